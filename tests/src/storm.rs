//! Runs all pairs of a fleet under random faults with PostgreSQL as the store, and resumes the run until it is
//! complete.

mod fault;
mod judgement;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

pub use self::fault::Fault;
use self::judgement::{Hosts, StoredTrials};
use crate::{
    Capture, Fleet, Leftovers, Network, PATIENCE, PostgresServer, ProcessGuard, Random, by_member, pairs,
    wait_until,
};

const HOSTS: usize = 4;
/// The rate is low enough to limit an hour's capture, and far below the capacity of the machine.
const RATE: &str = "20mbit";
/// The fraction of the run during which faults happen.
const STORMY: f64 = 0.8;
/// The maximum wait after a stored trial, so that faults hit every part of a round.
const BEYOND: Duration = Duration::from_secs(1);
const SHORTEST: f64 = 0.3;
/// The time between starts of controllers that fail one after another.
const APART: Duration = Duration::from_secs(1);
const GLANCE: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub struct Storm {
    pub faults: Vec<Fault>,
    /// It must not be 0.
    pub seed: u32,
    pub longest: Duration,
    pub trials: u32,
    /// A duration such as `4s`. Long trials would overlap with the next controller's trials if nothing
    /// prevented this.
    pub trial: &'static str,
}

impl Storm {
    #[must_use]
    pub fn of(faults: usize, seed: u32) -> Self {
        let mut random = Random::of(seed);
        let faults: Vec<_> = (0..faults).map(|_| Fault::ALL[random.below(Fault::ALL.len())]).collect();
        let trials = u32::try_from(faults.len() / 3).expect("few").max(1);
        Self { faults, seed, longest: Duration::from_secs(20), trials, trial: "5s" }
    }

    /// Panics if a trial is lost, changed or stored twice, if two streams share a host, if the run cannot be
    /// resumed, or if something remains.
    pub fn run(&self, plumb: &str) {
        let begun = Instant::now();
        println!("  {} faults, seed {}", self.faults.len(), self.seed);
        let store = PostgresServer::new();
        let mut network = Network::of(plumb, HOSTS);
        network.sandbox.keep_in(store.database());
        (0..HOSTS).for_each(|host| network.limit(host, RATE));
        let before = (Leftovers::of(&network.sandbox), Hosts::of(&network, HOSTS));
        let capture = Capture::on_bridge(&network);
        let mut fault_run = FaultRun::begin(Fleet::of(network, 0..HOSTS), store, self);
        for (place, fault) in self.faults.iter().enumerate() {
            let share = (place as f64 + fault_run.random.fraction()) / self.faults.len() as f64;
            fault_run.meet(*fault, STORMY * share);
        }
        fault_run.until("the run is complete", FaultRun::is_complete);
        let FaultRun { mut fleet, store, kept, reported, .. } = fault_run;
        fleet.network.agents_are_gone();
        let connections = capture.end();
        let stored = StoredTrials::of(&store);
        stored.are_complete();
        stored.hold(&kept);
        stored.were_on_the_wire(&connections);
        let shared = judgement::sharing(&connections);
        assert!(
            shared.is_empty(),
            "seed {}: {} times two streams shared a host: {shared:#?}",
            self.seed,
            shared.len()
        );
        fleet.end();
        before.0.are_gone_within(PATIENCE);
        before.1.are_as_they_were(&fleet.network);
        let took = begun.elapsed().as_secs_f64();
        println!("  {took:.0} s; {stored}, {} connections on the bridge", connections.len());
        reported.iter().for_each(|(what, count)| println!("    {count:>4} {what}"));
    }
}

struct FaultRun {
    fleet: Fleet,
    store: PostgresServer,
    controllers: Vec<(usize, ProcessGuard)>,
    started: usize,
    run: String,
    begun: Instant,
    last_start: Instant,
    kept: StoredTrials,
    random: Random,
    longest: Duration,
    complete: bool,
    reported: BTreeMap<String, usize>,
}

impl FaultRun {
    fn begin(fleet: Fleet, store: PostgresServer, storm: &Storm) -> Self {
        let scenario = pairs("pairs = \"all\"", by_member(0..HOSTS), storm.trials, storm.trial);
        let _ = fleet.network.sandbox.file("storm.toml", &scenario);
        let mut fault_run = Self {
            fleet,
            store,
            controllers: Vec::new(),
            started: 0,
            run: String::new(),
            begun: Instant::now(),
            last_start: Instant::now(),
            kept: StoredTrials::default(),
            random: Random::of(storm.seed),
            longest: storm.longest,
            complete: false,
            reported: BTreeMap::new(),
        };
        fault_run.start();
        let name = || StoredTrials::run(&fault_run.store);
        assert!(wait_until(PATIENCE, || !name().is_empty()), "{}", fault_run.printed(0));
        fault_run.run = name();
        fault_run.kept = StoredTrials::of(&fault_run.store);
        fault_run
    }

    fn start(&mut self) {
        let log = File::create(self.log(self.started)).expect("own file");
        let file = self.fleet.path("storm.toml");
        let resume = ["run", "--quiet", "--resume", &self.run];
        let words = if self.run.is_empty() { &["run", "--quiet", &file][..] } else { &resume };
        let mut command = self.fleet.network.command(words);
        let controller = command.stdout(Stdio::null()).stderr(log).spawn().expect("plumb was built");
        self.controllers.push((self.started, ProcessGuard(controller)));
        self.started += 1;
        self.last_start = Instant::now();
    }

    fn log(&self, number: usize) -> String {
        self.fleet.path(&format!("controller{number}.log"))
    }

    fn printed(&self, number: usize) -> String {
        fs::read_to_string(self.log(number)).unwrap_or_default()
    }

    fn count(&mut self, what: String) {
        *self.reported.entry(what).or_default() += 1;
    }

    fn tend(&mut self) {
        for (number, mut controller) in std::mem::take(&mut self.controllers) {
            let Some(status) = controller.0.try_wait().expect("it was started") else {
                self.controllers.push((number, controller));
                continue;
            };
            let printed = self.printed(number);
            let end = judgement::end_of(status, &printed);
            println!("    after {:.1} s: {end}", self.begun.elapsed().as_secs_f64());
            self.count(end);
            self.complete |= status.success() || printed.contains("is complete: all");
        }
        if self.controllers.is_empty() && !self.complete && self.last_start.elapsed() >= APART {
            self.start();
        }
    }

    fn pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            self.tend();
            sleep(GLANCE.min(left));
        }
    }

    fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let (mut seen, mut since) = (0, Instant::now());
        while !holds(self) {
            self.pass(GLANCE * 3);
            let count = StoredTrials::count(&self.store);
            if count > seen {
                (seen, since) = (count, Instant::now());
            }
            let last = self.printed(self.started - 1);
            assert!(
                since.elapsed() < PATIENCE,
                "{what} is not reached; {count} trials are stored; {:?}\n{last}",
                self.reported
            );
        }
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn meet(&mut self, fault: Fault, part: f64) {
        let goal = (self.kept.planned() as f64 * part) as usize;
        self.until("the next fault", |fault_run| StoredTrials::count(&fault_run.store) >= goal);
        let beyond = BEYOND.mul_f64(self.random.fraction());
        self.pass(beyond);
        assert!(!self.complete, "the run completed before all faults were caused: {:?}", self.reported);
        // Draws each order of magnitude equally often, so short faults are more frequent.
        let most = self.longest.as_secs_f64() / SHORTEST;
        let lasts = Duration::from_secs_f64(SHORTEST * most.powf(self.random.fraction()));
        println!(
            "  after {:.1} s, {} trials: {fault:?} for {:.1} s",
            self.begun.elapsed().as_secs_f64(),
            StoredTrials::count(&self.store),
            lasts.as_secs_f64()
        );
        fault.make(self, lasts);
        self.count(format!("{fault:?}"));
        let now = StoredTrials::of(&self.store);
        now.hold(&self.kept);
        self.kept = now;
    }
}

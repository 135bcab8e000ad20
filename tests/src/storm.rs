//! A run of all pairs of a fleet, kept in PostgreSQL, in a storm of faults: whatever dies, stands still or is cut off, the run is gone
//! on with until it is complete. Judged by the store and by what passed the bridge.

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

/// Members, each on a host of its own.
const HOSTS: usize = 4;
/// So that a capture of an hour is small, and a stream far from what this machine can send.
const RATE: &str = "20mbit";
/// The part of the run by whose end all faults have come.
const STORMY: f64 = 0.8;
/// How long after a trial was kept the next fault comes, at most: it hits every part of a round.
const BEYOND: Duration = Duration::from_secs(1);
/// How long a fault lasts, at least.
const SHORTEST: f64 = 0.3;
/// How far apart controllers are started, at least, where one after another finds what it needs away.
const APART: Duration = Duration::from_secs(1);
/// How often one looks for a controller that has ended.
const GLANCE: Duration = Duration::from_millis(100);
/// How soon nothing is left when members have ended.
const GONE: Duration = Duration::from_secs(5);

/// Which faults come, and what they are drawn from.
#[derive(Debug, Clone)]
pub struct Storm {
    /// In this order.
    pub faults: Vec<Fault>,
    /// For when and how long each is; not 0.
    pub seed: u32,
    /// How long a fault lasts, at most.
    pub longest: Duration,
    /// Trials of each way.
    pub trials: u32,
    /// How long a trial is, as `4s`. Where a controller dies in one that lasts longer than the next controller takes to begin, that
    /// one would send beside it, could it.
    pub trial: &'static str,
}

impl Storm {
    /// So many faults drawn from all, some of which last longer than a member waits for its controller.
    #[must_use]
    pub fn of(faults: usize, seed: u32) -> Self {
        let mut random = Random::of(seed);
        let faults: Vec<_> = (0..faults).map(|_| Fault::ALL[random.below(Fault::ALL.len())]).collect();
        let trials = u32::try_from(faults.len() / 3).expect("few").max(1);
        Self { faults, seed, longest: Duration::from_secs(20), trials, trial: "5s" }
    }

    /// Does it, with `plumb` at this place, and prints what happens and what it came to.
    ///
    /// # Panics
    /// When a trial is lost, altered or stored twice, two streams shared a host, the run cannot be gone on with, or something is left.
    pub fn run(&self, plumb: &str) {
        let begun = Instant::now();
        println!("  {} faults, seed {}", self.faults.len(), self.seed);
        let store = PostgresServer::new();
        let mut network = Network::of(plumb, HOSTS);
        network.sandbox.keep_in(store.database());
        (0..HOSTS).for_each(|host| network.limit(host, RATE));
        let before = (Leftovers::of(&network.sandbox), Hosts::of(&network, HOSTS));
        let capture = Capture::on_bridge(&network);
        let mut course = Course::begin(Fleet::of(network, 0..HOSTS), store, self);
        for (place, fault) in self.faults.iter().enumerate() {
            let share = (place as f64 + course.random.fraction()) / self.faults.len() as f64;
            course.meet(*fault, STORMY * share);
        }
        course.until("the run is complete", Course::is_complete);
        let Course { mut fleet, store, kept, told, .. } = course;
        fleet.network.agents_are_gone();
        let connections = capture.end();
        let stored = StoredTrials::of(&store);
        stored.are_all_that_was_planned();
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
        before.0.are_gone_within(GONE);
        before.1.are_as_they_were(&fleet.network);
        let took = begun.elapsed().as_secs_f64();
        println!("  {took:.0} s; {stored}, {} connections on the bridge", connections.len());
        told.iter().for_each(|(what, count)| println!("    {count:>4} {what}"));
    }
}

/// The run while it is made.
struct Course {
    fleet: Fleet,
    store: PostgresServer,
    /// More than one where a second one tries to take the run over.
    controllers: Vec<(usize, ProcessGuard)>,
    started: usize,
    run: String,
    begun: Instant,
    last_start: Instant,
    kept: StoredTrials,
    random: Random,
    longest: Duration,
    complete: bool,
    /// How often what happened.
    told: BTreeMap<String, usize>,
}

impl Course {
    /// The run is kept.
    fn begin(fleet: Fleet, store: PostgresServer, storm: &Storm) -> Self {
        let scenario = pairs("pairs = \"all\"", by_member(0..HOSTS), storm.trials, storm.trial);
        let _ = fleet.network.sandbox.file("storm.toml", &scenario);
        let mut course = Self {
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
            told: BTreeMap::new(),
        };
        course.start();
        let name = || StoredTrials::run(&course.store);
        assert!(wait_until(PATIENCE, || !name().is_empty()), "{}", course.said(0));
        course.run = name();
        course.kept = StoredTrials::of(&course.store);
        course
    }

    /// Starts a controller: the first begins the run, and the others go on with it.
    fn start(&mut self) {
        let log = File::create(self.log(self.started)).expect("it is ours");
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

    fn said(&self, number: usize) -> String {
        fs::read_to_string(self.log(number)).unwrap_or_default()
    }

    fn tell(&mut self, what: String) {
        *self.told.entry(what).or_default() += 1;
    }

    /// Looks who has ended, and goes on with the run where nobody makes it.
    fn tend(&mut self) {
        for (number, mut controller) in std::mem::take(&mut self.controllers) {
            let Some(status) = controller.0.try_wait().expect("it was started") else {
                self.controllers.push((number, controller));
                continue;
            };
            let said = self.said(number);
            let end = judgement::end_of(status, &said);
            println!("    after {:.1} s: {end}", self.begun.elapsed().as_secs_f64());
            self.tell(end);
            self.complete |= status.success() || said.contains("is complete: all");
        }
        if self.controllers.is_empty() && !self.complete && self.last_start.elapsed() >= APART {
            self.start();
        }
    }

    /// Tends the run for a while.
    fn pass(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let left = until.saturating_duration_since(Instant::now())
            && !left.is_zero()
        {
            self.tend();
            sleep(GLANCE.min(left));
        }
    }

    /// Tends the run until this holds; as long as trials are made it is waited for.
    fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let (mut seen, mut since) = (0, Instant::now());
        while !holds(self) {
            self.pass(GLANCE * 3);
            let count = StoredTrials::count(&self.store);
            if count > seen {
                (seen, since) = (count, Instant::now());
            }
            let last = self.said(self.started - 1);
            assert!(
                since.elapsed() < PATIENCE,
                "{what} is not reached; {count} trials are kept; {:?}\n{last}",
                self.told
            );
        }
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    /// One fault, when this part of the trials is kept.
    fn meet(&mut self, fault: Fault, part: f64) {
        let goal = (self.kept.planned() as f64 * part) as usize;
        self.until("the next fault", |course| StoredTrials::count(&course.store) >= goal);
        let beyond = BEYOND.mul_f64(self.random.fraction());
        self.pass(beyond);
        assert!(!self.complete, "the run is complete before all faults were made: {:?}", self.told);
        // Short ones are more frequent: an equal share for each order of magnitude.
        let most = self.longest.as_secs_f64() / SHORTEST;
        let lasts = Duration::from_secs_f64(SHORTEST * most.powf(self.random.fraction()));
        println!(
            "  after {:.1} s, {} trials: {fault:?} for {:.1} s",
            self.begun.elapsed().as_secs_f64(),
            StoredTrials::count(&self.store),
            lasts.as_secs_f64()
        );
        fault.make(self, lasts);
        self.tell(format!("{fault:?}"));
        let now = StoredTrials::of(&self.store);
        now.hold(&self.kept);
        self.kept = now;
    }
}

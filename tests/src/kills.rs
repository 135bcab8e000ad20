//! Programs of which one process after another is killed at random, and what must hold after each: nothing is left,
//! nothing that was kept is lost, and it can be gone on with.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    process::{Child, Command, ExitStatus, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

use crate::{Leftovers, Sandbox, name, processes, trials, wait_until};

/// How soon nothing is left of a run whose process was killed.
const GONE: Duration = Duration::from_secs(5);
/// How long a run may take to see that one of its processes is gone, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many processes of each name.
type Killed = BTreeMap<String, usize>;

/// Runs of a scenario of which so many processes are killed, each within this time of its start: the controller, an agent,
/// the observer or a monitor. Each run is resumed until it is complete. Tells how many of which were killed.
///
/// # Panics
/// When something is left of a run, a trial that was kept is gone or another, or a run cannot be resumed.
#[must_use]
pub fn runs_survive(sandbox: &Sandbox, scenario: &str, kills: usize, within: Duration) -> String {
    let before = Leftovers::of(sandbox);
    let (begin, resume) = (["run", scenario], ["run", "--resume"]);
    let (mut killed, mut kept, mut arguments) = (Killed::new(), Vec::<Value>::new(), begin);
    let mut random = Random(0x2545_f491);
    while killed.values().sum::<usize>() < kills {
        let mut run = sandbox.start(&arguments);
        sleep(within.mul_f64(random.fraction()));
        let victims = processes(sandbox);
        let victim = victims.get(random.below(victims.len().max(1))).copied();
        if let Some(victim) = victim.map(|pid| (pid, name(pid))).filter(|(pid, _)| kill(*pid)) {
            *killed.entry(victim.1).or_insert(0) += 1;
        }
        let ended = wait(&mut run);
        before.are_gone_within(GONE);
        let now = kept_trials(sandbox);
        let lost = kept.iter().filter(|trial| !now.contains(trial)).count();
        assert_eq!(lost, 0, "of {} trials that were kept are gone, killed: {killed:?}", kept.len());
        // Complete, the last time perhaps without a chance to say so: there is nothing to resume.
        let is_over = ended.success() || ended.code() == Some(64);
        kept = if is_over { Vec::new() } else { now };
        arguments = if is_over || kept.is_empty() { begin } else { resume };
    }
    if arguments == resume {
        let resumed = sandbox.plumb(&resume);
        assert!(matches!(resumed.status, Some(0 | 64)), "{resumed:?}");
        let now = kept_trials(sandbox);
        assert!(kept.iter().all(|trial| now.contains(trial)), "a resume changes what was kept");
        assert_eq!(sandbox.findings("latest")["run"]["state"], "complete");
    }
    before.are_gone_within(GONE);
    told(&killed)
}

/// A server of which so many processes are killed while a client is served: the client ends, and the next server begins at
/// the same port.
///
/// # Panics
/// When something is left of it, the client does not end or says that all is well, or the port stays taken.
#[must_use]
pub fn servers_survive(sandbox: &Sandbox, kills: usize) -> String {
    let before = Leftovers::of(sandbox);
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("loopback").port();
    let port = port.to_string();
    let (mut killed, mut random) = (Killed::new(), Random(0x1234_5678));
    while killed.values().sum::<usize>() < kills {
        let server = ["server", "--port", &port, "--bind", "127.0.0.1"];
        let mut server = sandbox.command(&server).stdout(Stdio::null()).spawn().expect("plumb was built");
        let client = ["client", "127.0.0.1", "--port", &port, "--no-keep", "-P", "4"];
        assert!(
            wait_until(PATIENCE, || sandbox.plumb(&[&client[..], &["-n", "1M"]].concat()).status == Some(0)),
            "nobody is served at port {port} after {killed:?}"
        );
        let mut client = sandbox.start(&[&client[..], &["-t", "600"]].concat());
        sleep(Duration::from_secs_f64(random.fraction()));
        let victims: Vec<u32> = processes(sandbox).into_iter().filter(|pid| *pid != client.id()).collect();
        let victim = victims[random.below(victims.len())];
        let victim_name = name(victim);
        if kill(victim) {
            *killed.entry(victim_name).or_insert(0) += 1;
        }
        if victim == server.id() {
            assert!(!wait(&mut client).success(), "a test whose server is gone is no success");
        } else {
            // The server goes on without the process that opens sockets for it, and is ended here.
            let _ = kill(server.id());
            let _ = wait(&mut client);
        }
        let _ = wait(&mut server);
        before.are_gone_within(GONE);
    }
    told(&killed)
}

/// How many trials of the latest run are kept.
#[must_use]
pub fn kept(sandbox: &Sandbox) -> u64 {
    let listed = sandbox.plumb(&["runs", "--json"]).out;
    let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
    listed[0]["trials"].as_u64().unwrap_or(0)
}

/// The trials of the latest run; none when there is no run yet.
fn kept_trials(sandbox: &Sandbox) -> Vec<Value> {
    if kept(sandbox) == 0 { Vec::new() } else { trials(&sandbox.record()).to_vec() }
}

/// Whether the process was there to be killed.
#[must_use]
pub fn kill(pid: u32) -> bool {
    sent(pid, "KILL")
}

/// Whether the process was there to get this signal.
pub(crate) fn sent(pid: u32, name: &str) -> bool {
    let status = Command::new("kill").args(["-s", name, &pid.to_string()]).stderr(Stdio::null()).status();
    status.expect("kill is there").success()
}

fn wait(child: &mut Child) -> ExitStatus {
    // It is not asked for what ended it between two looks.
    let mut ended = None;
    for _ in 0..PATIENCE.as_millis() / 20 {
        ended = child.try_wait().expect("it was started");
        if ended.is_some() {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    ended.unwrap_or_else(|| panic!("process {} does not end", child.id()))
}

fn told(killed: &Killed) -> String {
    let each: Vec<String> = killed.iter().map(|(name, count)| format!("{count} {name}")).collect();
    each.join(", ")
}

/// The same numbers each time: Lehmer's generator (Park & Miller, CACM 31, 1988).
pub struct Random(u32);

impl Random {
    /// Those of this seed, which is not 0.
    #[must_use]
    pub fn of(seed: u32) -> Self {
        Self(seed)
    }

    /// From 0 to 1.
    pub fn fraction(&mut self) -> f64 {
        self.0 = (u64::from(self.0) * 48_271 % 0x7fff_ffff) as u32;
        f64::from(self.0) / f64::from(0x7fff_ffff_u32)
    }

    /// One of so many numbers.
    pub fn below(&mut self, count: usize) -> usize {
        (self.fraction() * count as f64) as usize
    }
}

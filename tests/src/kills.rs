//! Kills processes at random. Afterwards nothing may remain, no stored trial may be lost, and the run must be
//! resumable.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    process::{Child, Command, ExitStatus, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

use crate::{Leftovers, PATIENCE, Sandbox, name, processes, trials, wait_until};

type Killed = BTreeMap<String, usize>;

/// Kills the controller, an agent, the observer or a monitor after at most `within`, and resumes each run.
/// Returns the kills by name. Panics if a run leaves something behind, or loses or changes a stored trial.
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
        before.are_gone_within(PATIENCE);
        let now = kept_trials(sandbox);
        let lost = kept.iter().filter(|trial| !now.contains(trial)).count();
        assert_eq!(lost, 0, "{} stored trials are lost, killed: {killed:?}", kept.len());
        // Status 64 means that the run is complete. The last kill may have come too late to be reported.
        let is_over = ended.success() || ended.code() == Some(64);
        kept = if is_over { Vec::new() } else { now };
        arguments = if is_over || kept.is_empty() { begin } else { resume };
    }
    if arguments == resume {
        let resumed = sandbox.plumb(&resume);
        assert!(matches!(resumed.status, Some(0 | 64)), "{resumed:?}");
        let now = kept_trials(sandbox);
        assert!(kept.iter().all(|trial| now.contains(trial)), "a resume changes stored trials");
        assert_eq!(sandbox.findings("latest")["run"]["state"], "complete");
    }
    before.are_gone_within(PATIENCE);
    reported(&killed)
}

/// The client must exit, and the next server must start on the same port. Panics if something remains, or if the client
/// hangs or reports success.
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
            "no client is served on port {port} after {killed:?}"
        );
        let mut client = sandbox.start(&[&client[..], &["-t", "600"]].concat());
        sleep(Duration::from_secs_f64(random.fraction()));
        let victims: Vec<u32> = processes(sandbox).into_iter().filter(|pid| *pid != client.id()).collect();
        let victim = victims[random.below(victims.len())];
        let victim_name = name(victim);
        if kill(victim) {
            *killed.entry(victim_name).or_insert(0) += 1;
        }
        assert!(!wait(&mut client).success(), "a client without its server fails");
        assert!(!wait(&mut server).success(), "a server without its helper fails");
        before.are_gone_within(PATIENCE);
    }
    reported(&killed)
}

#[must_use]
pub fn kept(sandbox: &Sandbox) -> u64 {
    let listed = sandbox.plumb(&["runs", "--json"]).out;
    let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
    listed[0]["trials"].as_u64().unwrap_or(0)
}

fn kept_trials(sandbox: &Sandbox) -> Vec<Value> {
    if kept(sandbox) == 0 { Vec::new() } else { trials(&sandbox.record()).to_vec() }
}

#[must_use]
pub fn kill(pid: u32) -> bool {
    sent(pid, "KILL")
}

pub(crate) fn sent(pid: u32, name: &str) -> bool {
    let status = Command::new("kill").args(["-s", name, &pid.to_string()]).stderr(Stdio::null()).status();
    status.expect("kill starts").success()
}

fn wait(child: &mut Child) -> ExitStatus {
    // Stores the last value, because it cannot be read after the process has exited.
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

fn reported(killed: &Killed) -> String {
    let each: Vec<String> = killed.iter().map(|(name, count)| format!("{count} {name}")).collect();
    each.join(", ")
}

/// Lehmer's generator (Park & Miller, CACM 31, 1988).
pub struct Random(u32);

impl Random {
    #[must_use]
    pub fn of(seed: u32) -> Self {
        Self(seed)
    }

    pub fn fraction(&mut self) -> f64 {
        self.0 = (u64::from(self.0) * 48_271 % 0x7fff_ffff) as u32;
        f64::from(self.0) / f64::from(0x7fff_ffff_u32)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.fraction() * count as f64) as usize
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

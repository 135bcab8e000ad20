//! A lab's possible leftovers: processes, network namespaces and devices. Processes have the sandbox's home in their
//! environment. Guest monitors inherit only PATH, which ends with the home.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::command::Sandbox;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    home: PathBuf,
    pub processes: BTreeSet<u32>,
    pub namespaces: BTreeSet<String>,
    pub devices: BTreeSet<String>,
}

impl Leftovers {
    #[must_use]
    pub fn of(sandbox: &Sandbox) -> Self {
        Self::of_home(sandbox.home())
    }

    fn of_home(home: &Path) -> Self {
        let processes: BTreeSet<u32> = started_from(home).collect();
        let own: BTreeSet<String> = held_by(std::process::id()).collect();
        let theirs = processes.iter().flat_map(|pid| held_by(*pid));
        let namespaces = theirs.filter(|namespace| !own.contains(namespace)).collect();
        Self { home: home.to_owned(), processes, namespaces, devices: devices() }
    }

    pub fn are_gone_within(&self, patience: Duration) {
        let clean = wait_until(patience, || Self::of_home(&self.home).is_within(self));
        assert!(clean, "left behind after {patience:?}: {:?}, before: {self:?}", Self::of_home(&self.home));
    }

    fn is_within(&self, before: &Self) -> bool {
        self.processes.is_subset(&before.processes)
            && self.namespaces.is_subset(&before.namespaces)
            && self.devices.is_subset(&before.devices)
    }
}

pub fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &pid.to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill -s {name} {pid}");
}

#[must_use]
pub fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

#[must_use]
pub fn agents(sandbox: &Sandbox) -> Vec<u32> {
    processes(sandbox).into_iter().filter(|pid| name(*pid) == "plumb-agent").collect()
}

pub fn wait_until(patience: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    holds()
}

#[must_use]
pub fn cpu_time(pid: u32) -> Duration {
    /// Milliseconds per tick on x86 and ARM. See times(2) and proc_pid_stat(5).
    const TICK: u64 = 10;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may contain any character. The state and ten more fields precede the two times.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = fields.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * TICK)
}

#[must_use]
pub fn processes(sandbox: &Sandbox) -> Vec<u32> {
    started_from(sandbox.home()).collect()
}

#[must_use]
pub fn belongs_to(pid: u32, sandbox: &Sandbox) -> bool {
    has_home(pid, sandbox.home())
}

fn started_from(home: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("Linux").filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| has_home(*pid, home))
}

/// A zombie has no environment and counts as gone.
fn has_home(pid: u32, home: &Path) -> bool {
    let home = home.as_os_str().as_bytes();
    let (own, on_path) = ([b"HOME=", home].concat(), [b":", home].concat());
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let is_mark =
        |variable: &[u8]| variable == own || variable.starts_with(b"PATH=") && variable.ends_with(&on_path);
    environment.split(|byte| *byte == 0).any(is_mark)
}

fn held_by(pid: u32) -> impl Iterator<Item = String> {
    let own = fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().filter_map(Result::ok);
    let held = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    own.into_iter()
        .chain(held)
        .filter_map(|link| link.to_str().map(str::to_owned))
        .filter(|link| link.starts_with("net:"))
}

fn devices() -> BTreeSet<String> {
    let entries = fs::read_dir("/sys/class/net").expect("Linux");
    entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

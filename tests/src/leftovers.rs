//! What a lab could leave behind: processes, network namespaces, devices. Counted before and after.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, Instant},
};

/// What is there at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftovers {
    /// Pids of agents and controllers of this program.
    pub processes: BTreeSet<u32>,
    /// Inode numbers of network namespaces that any process is in or holds.
    pub namespaces: BTreeSet<String>,
    /// Devices of the namespace that the tests run in.
    pub devices: BTreeSet<String>,
}

impl Leftovers {
    /// Looks at the whole machine.
    #[must_use]
    pub fn now() -> Self {
        let mut found = Self { processes: BTreeSet::new(), namespaces: BTreeSet::new(), devices: devices() };
        for pid in pids() {
            if is_plumb(pid) {
                found.processes.insert(pid);
            }
            found.namespaces.extend(held_by(pid));
        }
        found
    }

    /// Waits until all is as it was, and otherwise says what is left.
    pub fn are_gone_within(&self, patience: Duration) {
        let clean = wait_until(patience, || Self::now().is_within(self));
        assert!(clean, "left behind after {patience:?}: {:?}, before: {self:?}", Self::now());
    }

    fn is_within(&self, before: &Self) -> bool {
        self.processes.is_subset(&before.processes)
            && self.namespaces.is_subset(&before.namespaces)
            && self.devices.is_subset(&before.devices)
    }
}

/// Whether `holds` becomes true in time.
pub fn wait_until(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    holds()
}

/// CPU time that all threads of a process have taken; none of one that is gone.
#[must_use]
pub fn cpu_time(pid: u32) -> Duration {
    /// Of any x86 or ARM Linux, in milliseconds. See times(2) and proc_pid_stat(5).
    const TICK: u64 = 10;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name, which may hold anything: the state and ten more before the two times.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let ticks = fields.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * TICK)
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("Linux");
    entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A zombie is gone for this purpose: it holds nothing.
fn is_plumb(pid: u32) -> bool {
    let name = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    name.file_name().is_some_and(|name| name == "plumb")
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

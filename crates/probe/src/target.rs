//! Finds running processes, network namespaces, control groups and virtual machines to observe.

mod control_group;
mod machine;
mod namespace;
mod qemu;

use std::{ffi::OsStr, fs, os::linux::fs::MetadataExt, path::PathBuf};

use procfs::process::{self, Process};
use samples::TracedProcess;
use thiserror::Error;

pub(crate) use control_group::mounted as control_groups;
pub use control_group::{control_group, in_control_group};
pub use machine::{is_machine, machine};
pub(crate) use machine::{is_vcpu, is_vhost, vhost_workers};
pub use namespace::{in_namespace, namespace, namespace_of};
pub use qemu::{Qemu, qemu, qemus};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    #[error("no process with PID {0}")]
    NoProcess(u32),
    #[error("no network namespace `{named}`: {reason}")]
    NoNamespace { named: String, reason: String },
    #[error("no control group `{named}`: {reason}")]
    NoControlGroup { named: String, reason: String },
    #[error("no QEMU virtual machine `{named}`")]
    NoQemu { named: String, running: Vec<String> },
    #[error("{} QEMU virtual machines match `{named}`", pids.len())]
    SeveralQemus { named: String, pids: Vec<u32> },
}

/// Finds a process by its PID or by the id of one of its threads. Fails for zombies.
pub fn process(pid: u32) -> Result<TracedProcess, TargetError> {
    let found = open(pid).filter(|_| is_alive(pid)).ok_or(TargetError::NoProcess(pid))?;
    // /proc also has a directory for each thread id, so find the thread's process.
    let group = found.status().ok().and_then(|status| u32::try_from(status.tgid).ok()).unwrap_or(pid);
    Ok(TracedProcess { pid: group, name: name(&found).unwrap_or_else(|| "unknown".to_owned()) })
}

#[must_use]
pub fn called(names: &[&str]) -> Vec<u32> {
    let is_called = |process: &Process| name(process).is_some_and(|name| names.contains(&name.as_str()));
    all().filter(is_called).filter_map(|process| number(&process)).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledProcess {
    pub process: TracedProcess,
    /// In clock ticks since boot.
    pub start_time: u64,
    pub value: String,
}

/// Finds other processes of this user that have the given environment variable. Skips containers, where a PID in the
/// variable's value would refer to a different process.
#[must_use]
pub fn labelled(variable: &str) -> Vec<LabelledProcess> {
    let label = |process: &Process| {
        let value = process.environ().ok()?.remove(OsStr::new(variable))?.into_string().ok()?;
        let stat = process.stat().ok().filter(|stat| !matches!(stat.state, 'Z' | 'X'))?;
        Some(LabelledProcess { process: traced(process)?, start_time: stat.starttime, value })
    };
    let own = std::process::id();
    let user = sys::process::user();
    let namespace = |pid: u32| fs::metadata(of_process(pid, "ns/pid")).ok().map(|found| found.st_ino());
    let is_here = |pid: u32| pid != own && namespace(pid) == namespace(own);
    all()
        .filter(|process| process.uid().is_ok_and(|uid| uid == user) && number(process).is_some_and(is_here))
        .filter_map(|process| label(&process))
        .collect()
}

#[must_use]
pub fn is_alive(pid: u32) -> bool {
    open(pid).and_then(|process| process.stat().ok()).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
}

fn all() -> impl Iterator<Item = Process> {
    process::all_processes().into_iter().flatten().filter_map(Result::ok)
}

pub(crate) fn open(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

fn number(process: &Process) -> Option<u32> {
    u32::try_from(process.pid).ok()
}

fn name(process: &Process) -> Option<String> {
    process.stat().ok().map(|stat| stat.comm)
}

fn traced(process: &Process) -> Option<TracedProcess> {
    Some(TracedProcess { pid: number(process)?, name: name(process)? })
}

fn of_process(pid: u32, what: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_this_process() {
        let own = std::process::id();
        assert_eq!(process(own).map(|found| found.pid), Ok(own));
        assert!(is_alive(own));
    }

    #[test]
    fn zombie_is_not_found() {
        let mut child = std::process::Command::new("true").spawn().expect("every system has it");
        let pid = child.id();
        let left = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            is_alive(pid)
        });
        assert!(left.take(500).any(|alive| !alive), "exits immediately");
        assert_eq!(process(pid), Err(TargetError::NoProcess(pid)));
        let _ = child.wait();
        assert_eq!(process(u32::MAX), Err(TargetError::NoProcess(u32::MAX)));
    }
}

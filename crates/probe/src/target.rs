//! Finding what runs already and is to be watched: processes, network namespaces, control groups, virtual machines.
//! Must not know what is watched of them.

mod control_group;
mod machine;
mod namespace;
mod qemu;

use std::path::PathBuf;

use procfs::process::{self, Process};
use samples::TracedProcess;
use thiserror::Error;

pub(crate) use control_group::mounted as control_groups;
pub use control_group::{control_group, in_control_group};
pub use machine::{is_machine, machine};
pub(crate) use machine::{is_vcpu, is_vhost, vhost_workers};
pub use namespace::{in_namespace, namespace, of as namespace_of};
pub use qemu::{Qemu, qemu, qemus};

/// Why there is nothing to watch.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TargetError {
    /// There is no such process.
    #[error("no process has the number {0}")]
    NoProcess(u32),
    /// A namespace could not be found.
    #[error("no network namespace is called `{named}`: {because}")]
    NoNamespace {
        named: String,
        /// Why not.
        because: String,
    },
    /// A control group could not be found.
    #[error("no control group is called `{named}`: {because}")]
    NoControlGroup {
        named: String,
        /// Why not.
        because: String,
    },
    /// No virtual machine is called so.
    #[error("no QEMU is called `{named}`")]
    NoQemu {
        named: String,
        /// What the machines that run are called.
        running: Vec<String>,
    },
    /// Several virtual machines are called so.
    #[error("{} QEMUs are called `{named}`", pids.len())]
    SeveralQemus {
        named: String,
        /// Their numbers.
        pids: Vec<u32>,
    },
}

/// The process of this number, which may be that of one of its threads.
///
/// # Errors
/// When there is none, or only what is left of one.
pub fn process(pid: u32) -> Result<TracedProcess, TargetError> {
    let found = open(pid).filter(|_| is_alive(pid)).ok_or(TargetError::NoProcess(pid))?;
    // A thread's number leads to its directory as well; the process is watched.
    let group = found.status().ok().and_then(|status| u32::try_from(status.tgid).ok()).unwrap_or(pid);
    Ok(TracedProcess { pid: group, name: name(&found).unwrap_or_else(|| "unknown".to_owned()) })
}

/// Processes of these names.
#[must_use]
pub fn called(names: &[&str]) -> Vec<u32> {
    let is_called = |process: &Process| name(process).is_some_and(|name| names.contains(&name.as_str()));
    all().filter(is_called).filter_map(|process| number(&process)).collect()
}

/// Whether it still runs; one that has ended and was not waited for does not.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    open(pid).and_then(|process| process.stat().ok()).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
}

/// Every process whose name can be read.
fn all() -> impl Iterator<Item = Process> {
    process::all_processes().into_iter().flatten().filter_map(Result::ok)
}

fn open(pid: u32) -> Option<Process> {
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

/// Where the kernel shows a process.
fn of_process(pid: u32, what: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_and_runs() {
        let own = std::process::id();
        assert_eq!(process(own).map(|found| found.pid), Ok(own));
        assert!(is_alive(own));
    }

    #[test]
    fn a_process_that_ended_is_none_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("true").spawn().expect("every system has it");
        let pid = child.id();
        let left = std::iter::repeat_with(|| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            is_alive(pid)
        });
        assert!(left.take(500).any(|alive| !alive), "it ends at once");
        assert_eq!(process(pid), Err(TargetError::NoProcess(pid)));
        let _ = child.wait();
        assert_eq!(process(u32::MAX), Err(TargetError::NoProcess(u32::MAX)));
    }
}

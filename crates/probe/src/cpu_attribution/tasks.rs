//! Lists all tasks in /proc with their CPU time.
//!
//! With `CONFIG_SCHED_INFO`, /proc/PID/task/TID/schedstat has the time in nanoseconds. Otherwise stat has it in ticks, see
//! proc(5).

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

use procfs::process::{Process, Stat, Task};
use protocol::Subject;

use crate::observe::ProbeError;

pub(super) const MOST: usize = 65_536;

/// `PF_KTHREAD` from include/linux/sched.h.
const KERNEL_THREAD: u32 = 0x0020_0000;
const GROUPS: &str = "/sys/fs/cgroup";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) tid: u32,
    pub(super) started: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownTask {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) kernel: bool,
    pub(super) process: String,
    pub(super) thread: String,
    pub(super) time: u64,
    /// The CPU time of all threads of the process, including threads that have exited. Only the first thread has this
    /// value.
    pub(super) whole: u64,
    /// The CPU time of reaped children. Only the first thread has this value.
    pub(super) children: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tasks {
    pub(super) seen: HashMap<Id, KnownTask>,
    pub(super) missed: u64,
}

impl Tasks {
    pub(super) fn now() -> Result<Self, ProbeError> {
        let processes = procfs::process::all_processes().map_err(|error| ProbeError::Unavailable {
            reason: format!("cannot read /proc: {error}"),
            remedy: "mount /proc".to_owned(),
        })?;
        let mut tasks = Self::default();
        for process in processes.filter_map(Result::ok) {
            tasks.add(&process);
        }
        Ok(tasks)
    }

    fn add(&mut self, process: &Process) {
        let Ok(leader) = process.stat() else { return };
        for task in process.tasks().into_iter().flatten().filter_map(Result::ok) {
            if self.seen.len() >= MOST {
                self.missed += 1;
            } else if let Ok(stat) = task.stat() {
                let id = Id { tid: task.tid.unsigned_abs(), started: stat.starttime };
                self.seen.insert(id, known_task(&leader, &task, stat));
            }
        }
    }
}

fn known_task(leader: &Stat, task: &Task, stat: Stat) -> KnownTask {
    let kernel = stat.flags & KERNEL_THREAD != 0;
    let first = task.tid == leader.pid;
    KnownTask {
        pid: leader.pid.unsigned_abs(),
        parent: leader.ppid.unsigned_abs(),
        kernel,
        process: if kernel { String::new() } else { leader.comm.clone() },
        time: time(task, &stat),
        whole: if first { ticks(leader.utime + leader.stime) } else { 0 },
        children: if first { ticks(leader.cutime.unsigned_abs() + leader.cstime.unsigned_abs()) } else { 0 },
        thread: stat.comm,
    }
}

fn ticks(count: u64) -> u64 {
    count * (1_000_000_000 / procfs::ticks_per_second())
}

fn time(task: &Task, stat: &Stat) -> u64 {
    match task.schedstat() {
        Ok(exact) if exact.pcount > 0 || exact.sum_exec_runtime > 0 => exact.sum_exec_runtime,
        _ => ticks(stat.utime + stat.stime),
    }
}

pub(super) fn belongs_to(pid: u32, subject: &Subject) -> bool {
    let inode = |path: String| std::fs::metadata(path).map(|file| file.ino()).ok();
    let in_namespace = !subject.namespaces.is_empty()
        && inode(format!("/proc/{pid}/ns/net")).is_some_and(|inode| subject.namespaces.contains(&inode));
    in_namespace
        || !subject.cgroups.is_empty()
            && group_and_above(pid)
                .into_iter()
                .filter_map(inode)
                .any(|inode| subject.cgroups.contains(&inode))
}

fn group_and_above(pid: u32) -> Vec<String> {
    let text = crate::file::line(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let Some(group) = text.lines().find_map(|line| line.strip_prefix("0::/")) else { return Vec::new() };
    let below = std::path::Path::new(group).ancestors();
    below.map(|part| format!("{GROUPS}/{}", part.display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_this_process_and_kernel_threads() {
        let tasks = Tasks::now().expect("Linux");
        let own: Vec<_> = tasks.seen.values().filter(|task| task.pid == std::process::id()).collect();
        assert!(!own.is_empty() && own.iter().all(|task| !task.kernel), "{own:?}");
        assert!(own.iter().any(|task| task.time > 0), "{own:?}");
        // A container may hide kernel threads.
        if let Some(softirqs) = tasks.seen.values().find(|task| task.thread.starts_with("ksoftirqd/")) {
            assert!(softirqs.kernel && softirqs.process.is_empty(), "{softirqs:?}");
        }
    }

    #[test]
    fn process_belongs_to_its_namespace_and_group() {
        let pid = std::process::id();
        let inode = |path: String| std::fs::metadata(path).expect("Linux").ino();
        let mut subject = Subject {
            consumer: samples::CpuConsumer::Client,
            pids: Vec::new(),
            namespaces: vec![inode(format!("/proc/{pid}/ns/net"))],
            cgroups: Vec::new(),
            syscalls: false,
        };
        assert!(belongs_to(pid, &subject));
        subject.namespaces = vec![1];
        assert!(!belongs_to(pid, &subject));
        if let Some(top) = group_and_above(pid).last() {
            subject.cgroups = vec![inode(top.clone())];
            assert!(belongs_to(pid, &subject), "every process is below the root group");
        }
    }
}

//! The threads of a QEMU process with their role, affinity and CPU time (proc_pid_task(5), and
//! proc_pid_schedstat in Documentation/scheduler/sched-stats.rst).

use std::collections::BTreeMap;

use procfs::process::{Process, Task};
use samples::{VmRole, VmThread};
use units::Nanos;

use crate::target::{is_vcpu, is_vhost, open, vhost_workers};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    tid: u32,
    name: String,
    role: VmRole,
    cpus: Vec<u32>,
    ran: Option<u64>,
    waited: Option<u64>,
    guest: u64,
}

pub(super) fn read(process: &Process) -> Vec<Reading> {
    let pid = process.pid;
    let own = process.tasks().into_iter().flatten().filter_map(Result::ok);
    let mut threads: Vec<Reading> = own.filter_map(|task| reading(&task, pid)).collect();
    let workers = u32::try_from(pid).map(vhost_workers).unwrap_or_default();
    let workers = workers.into_iter().filter_map(open);
    let tasks = workers.filter_map(|worker| worker.task_main_thread().ok());
    threads.extend(tasks.filter_map(|task| reading(&task, pid)));
    threads.sort_by_key(|thread| thread.tid);
    threads
}

fn reading(task: &Task, pid: i32) -> Option<Reading> {
    let stat = task.stat().ok()?;
    let times = task.schedstat().ok();
    let allowed = task.status().ok()?.cpus_allowed_list.unwrap_or_default();
    Some(Reading {
        tid: u32::try_from(task.tid).ok()?,
        role: role(&stat.comm, task.tid == pid, stat.guest_time.unwrap_or_default()),
        name: stat.comm,
        cpus: allowed.into_iter().flat_map(|(first, last)| first..=last).collect(),
        ran: times.as_ref().map(|times| times.sum_exec_runtime),
        waited: times.as_ref().map(|times| times.run_delay),
        guest: stat.guest_time.unwrap_or_default(),
    })
}

/// QEMU names its threads only with `-name ...,debug-threads=on`, which libvirt and Proxmox set. Otherwise, only
/// threads that have run a guest are known to be vCPUs.
fn role(name: &str, is_first: bool, guest: u64) -> VmRole {
    if is_first {
        VmRole::Main
    } else if is_vhost(name) {
        VmRole::Vhost
    } else if guest > 0 || is_vcpu(name) {
        VmRole::Cpu
    } else if name.starts_with("IO ") {
        VmRole::Io
    } else {
        VmRole::Other
    }
}

/// New threads are assumed to have started at zero, and exited threads are omitted.
pub(super) fn between(before: &[Reading], now: &[Reading]) -> Vec<VmThread> {
    let before: BTreeMap<u32, &Reading> = before.iter().map(|thread| (thread.tid, thread)).collect();
    let thread = |now: &Reading| {
        let then = before.get(&now.tid);
        let passed =
            |now: Option<u64>, then: Option<u64>| Some(Nanos(now?.saturating_sub(then.unwrap_or_default())));
        let ticks = now.guest.saturating_sub(then.map_or(0, |then| then.guest));
        VmThread {
            tid: now.tid,
            name: now.name.clone(),
            role: now.role,
            cpus: now.cpus.clone(),
            ran: passed(now.ran, then.and_then(|then| then.ran)),
            guest: (now.guest > 0).then(|| Nanos(ticks * 1_000_000_000 / procfs::ticks_per_second())),
            waited: passed(now.waited, then.and_then(|then| then.waited)),
        }
    };
    now.iter().map(thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_threads_by_name_or_guest_time() {
        for (name, is_first, guest, expected) in [
            ("CPU 0/KVM", false, 0, VmRole::Cpu),
            ("CPU 1/TCG", false, 0, VmRole::Cpu),
            ("kvm", false, 12, VmRole::Cpu),
            ("kvm", true, 0, VmRole::Main),
            ("vhost-1200", false, 0, VmRole::Vhost),
            ("IO iothread0", false, 0, VmRole::Io),
            ("call_rcu", false, 0, VmRole::Other),
        ] {
            assert_eq!(role(name, is_first, guest), expected, "{name}");
        }
    }

    #[test]
    fn times_are_differences_and_new_threads_start_at_zero() {
        let thread_of = |tid, ran, guest| Reading {
            tid,
            name: "CPU 0/KVM".into(),
            role: VmRole::Cpu,
            cpus: vec![0, 1],
            ran: Some(ran),
            waited: Some(ran / 10),
            guest,
        };
        let threads = between(
            &[thread_of(7, 1000, 100), thread_of(8, 5, 0)],
            &[thread_of(7, 3000, 150), thread_of(9, 40, 0)],
        );
        let times: Vec<_> = threads.iter().map(|it| (it.tid, it.ran, it.waited, it.guest)).collect();
        let half = Nanos(50 * 1_000_000_000 / procfs::ticks_per_second());
        let expected = [
            (7, Some(Nanos(2000)), Some(Nanos(200)), Some(half)),
            (9, Some(Nanos(40)), Some(Nanos(4)), None),
        ];
        assert_eq!(times, expected);
    }

    #[test]
    fn this_process_has_a_main_thread_with_affinity() {
        let threads = read(&Process::myself().expect("it runs"));
        let first = threads.iter().find(|it| it.role == VmRole::Main).expect("every process has one");
        assert!(!first.cpus.is_empty() && first.tid == std::process::id(), "{first:?}");
    }
}

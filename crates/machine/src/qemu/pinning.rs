//! Pins the threads of QEMU and its vhost workers to CPUs.

use std::{fs, io};

use scenario::Vm;

use super::{error::QemuError, qmp::Qmp};

pub(super) fn pin(pid: u32, qmp: &mut Qmp, vm: &Vm) -> Result<(), QemuError> {
    if vm.cpus.is_empty() && vm.monitor_cpus.is_empty() {
        return Ok(());
    }
    let vcpus = seen_here(pid, &qmp.vcpu_threads().map_err(|source| QemuError::Threads { source })?)?;
    for (thread, cpu) in vcpus.iter().zip(vm.cpus.iter().cycle()) {
        bind(*thread, &[*cpu])?;
    }
    if !vm.monitor_cpus.is_empty() {
        let others = threads(pid)?.into_iter().filter(|thread| !vcpus.contains(thread));
        for thread in others.chain(vhost_workers(pid)) {
            bind(thread, &vm.monitor_cpus)?;
        }
    }
    Ok(())
}

fn bind(thread: u32, cpus: &[u32]) -> Result<(), QemuError> {
    match sys::affinity::pin(thread, cpus) {
        Err(error) if error.is_gone() => Ok(()),
        bound => bound.map_err(QemuError::Pin),
    }
}

fn seen_here(pid: u32, own: &[u32]) -> io::Result<Vec<u32>> {
    let mut here = Vec::new();
    for thread in threads(pid)? {
        let status = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap_or_default();
        here.push((innermost_number(&status), thread));
    }
    let seen = |own: &u32| here.iter().find(|(number, _)| *number == Some(*own)).map(|(_, thread)| *thread);
    Ok(own.iter().filter_map(seen).collect())
}

/// Parses `NSpid: 4711 3`. The ID in the reader's PID namespace comes first (filesystems/proc.rst in the
/// kernel sources).
fn innermost_number(status: &str) -> Option<u32> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}

fn threads(pid: u32) -> io::Result<Vec<u32>> {
    Ok(numbers(&format!("/proc/{pid}/task"))?.collect())
}

/// Before Linux 6.4, vhost workers were kernel threads; now they are threads of QEMU (vhost_worker_create in
/// drivers/vhost).
fn vhost_workers(pid: u32) -> Vec<u32> {
    let name = format!("vhost-{pid}");
    let is_named = |task: &u32| {
        fs::read_to_string(format!("/proc/{task}/comm")).is_ok_and(|comm| comm.trim_end() == name)
    };
    numbers("/proc").into_iter().flatten().filter(is_named).collect()
}

fn numbers(folder: &str) -> io::Result<impl Iterator<Item = u32>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_threads_by_the_number_in_their_own_namespace() {
        assert_eq!(innermost_number("Name:\tqemu\nNSpid:\t4711\t12\t3\nThreads:\t1\n"), Some(3));
        assert_eq!(innermost_number("Name:\tqemu\n"), None);
        let own = std::process::id();
        assert!(seen_here(own, &[u32::MAX]).expect("it runs").is_empty());
        let own_number = innermost_number(&fs::read_to_string("/proc/self/status").expect("Linux"));
        let seen = seen_here(own, &[own_number.expect("Linux 4.1")]).expect("it runs");
        assert_eq!(seen, [own]);
    }
}

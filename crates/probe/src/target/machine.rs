//! What a virtual machine that runs consists of: its monitor, whose threads are told apart by their names, and the vhost
//! workers that carry its packets. Must not know what is watched of them.

use procfs::process::Process;
use protocol::Subject;
use samples::CpuOwner;

use super::{all, name, number, open};

/// The monitors of an end's virtual machine as they are watched: their vCPU threads are the owner's, their other threads
/// [`CpuOwner::Vmm`]'s, and their vhost workers, which may have come since they were looked for last, [`CpuOwner::Vhost`]'s. A
/// monitor that does not name its threads (QEMU without `debug-threads=on`) is the end's as a whole.
#[must_use]
pub fn machine(monitors: &Subject) -> Vec<Subject> {
    let workers: Vec<u32> = monitors.pids.iter().copied().flat_map(vhost_workers).collect();
    let owned = |owner, pids| Subject { owner, pids, ..monitors.clone() };
    let (named, whole): (Vec<u32>, Vec<u32>) = monitors.pids.iter().partition(|pid| names_its_threads(**pid));
    let workers = Subject { syscalls: false, ..owned(CpuOwner::Vhost, workers) };
    let parts = [owned(monitors.owner, named), owned(end(monitors.owner), whole), workers];
    parts.into_iter().filter(|part| !part.pids.is_empty()).collect()
}

/// Whether these processes are the monitor of a virtual machine at an end.
#[must_use]
pub const fn is_machine(owner: CpuOwner) -> bool {
    matches!(owner, CpuOwner::ClientVm | CpuOwner::ServerVm)
}

/// Kernel threads that carry the packets of this process's guest: `vhost-<pid>`. Since Linux 6.4 they are threads of the
/// process itself, where they need not be looked for.
pub(crate) fn vhost_workers(pid: u32) -> Vec<u32> {
    let wanted = format!("vhost-{pid}");
    all()
        .filter(|process| name(process).is_some_and(|name| name == wanted))
        .filter_map(|process| number(&process))
        .collect()
}

/// `vhost-<pid>`: a thread of the kernel up to Linux 6.3, one of the monitor's own since.
pub(crate) fn is_vhost(thread: &str) -> bool {
    thread.strip_prefix("vhost-").is_some_and(is_number)
}

/// A thread that runs a guest's processor, as QEMU (with KVM or TCG), Firecracker, cloud-hypervisor and crosvm name
/// theirs. Linux keeps 15 characters.
pub(crate) fn is_vcpu(thread: &str) -> bool {
    let qemu = thread.starts_with("CPU ") && thread.contains('/');
    let all_in_one = thread.starts_with("ALL CPUs/");
    let numbered = ["fc_vcpu ", "vcpu", "crosvm_vcpu"]
        .iter()
        .filter_map(|start| thread.strip_prefix(start))
        .any(is_number);
    qemu || all_in_one || numbered
}

const fn end(machine: CpuOwner) -> CpuOwner {
    match machine {
        CpuOwner::ClientVm => CpuOwner::Client,
        CpuOwner::ServerVm => CpuOwner::Server,
        other => other,
    }
}

fn names_its_threads(pid: u32) -> bool {
    let threads = |process: Process| process.tasks().into_iter().flatten().filter_map(Result::ok);
    let mut names = open(pid).into_iter().flat_map(threads).filter_map(|task| task.stat().ok());
    names.any(|stat| is_vcpu(&stat.comm))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::symlink,
        process::{Child, Command, id},
        sync::mpsc::{Sender, channel},
        thread,
        time::Duration,
    };

    use super::*;

    /// A process of this name that sleeps.
    fn process_named(name: &str) -> (tempfile::TempDir, Child) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join(name);
        symlink("/bin/sleep", &program).expect("every system has it");
        let child = Command::new(program).arg("60").spawn().expect("it can be run");
        let wanted = |child: &Child| {
            open(child.id()).is_some_and(|found| super::name(&found).as_deref() == Some(name))
        };
        assert!((0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            wanted(&child)
        }));
        (folder, child)
    }

    /// A thread of this process that has this name until its end of the channel is dropped.
    fn thread_named(name: &str) -> Sender<()> {
        let (hold, held) = channel::<()>();
        let (begin, begun) = channel();
        let run = move || {
            let _ = begin.send(());
            let _ = held.recv();
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).expect("a thread");
        begun.recv().expect("it runs");
        hold
    }

    fn monitors(owner: CpuOwner, pids: &[u32]) -> Subject {
        Subject::of(owner, pids.to_vec(), true)
    }

    #[test]
    fn a_machine_is_its_monitor_and_the_vhost_workers_that_have_its_number() {
        let _vcpu = thread_named("CPU 0/KVM");
        let (_folder, mut worker) = process_named(&format!("vhost-{}", id()));
        // Its number begins as that of the monitor does, or ends so.
        let (_folder, mut other) = process_named(&format!("vhost-{}1", id()));
        let found = machine(&monitors(CpuOwner::ServerVm, &[id()]));
        let (worker_pid, _) = (worker.id(), [&mut worker, &mut other].map(|child| child.kill()));
        let said: Vec<_> = found.iter().map(|it| (it.owner, &it.pids[..], it.syscalls)).collect();
        assert_eq!(
            said,
            [(CpuOwner::ServerVm, &[id()][..], true), (CpuOwner::Vhost, &[worker_pid][..], false)]
        );
        [worker, other].iter_mut().for_each(|child| drop(child.wait()));
    }

    #[test]
    fn a_monitor_whose_threads_have_no_names_is_the_end_s_as_a_whole() {
        let (_folder, mut monitor) = process_named("qemu-system-x86");
        let found = machine(&monitors(CpuOwner::ClientVm, &[monitor.id()]));
        assert_eq!(found, [monitors(CpuOwner::Client, &[monitor.id()])]);
        assert!(monitor.kill().and_then(|()| monitor.wait()).is_ok());
        assert_eq!(machine(&monitors(CpuOwner::ClientVm, &[])), []);
    }
}

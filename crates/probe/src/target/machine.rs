//! Parts of a running virtual machine: the VMM, with its threads distinguished by name, and vhost workers.

use procfs::process::Process;
use protocol::Subject;
use samples::CpuConsumer;

use super::{all, name, number, open};

/// Returns the subjects of a virtual machine: vCPU threads belong to the VM's owner, other VMM threads to
/// [`CpuConsumer::Vmm`], and vhost workers, including new ones, to [`CpuConsumer::Vhost`]. A VMM without thread
/// names (QEMU without `debug-threads=on`) belongs as a whole to the client or server.
#[must_use]
pub fn machine(monitors: &Subject) -> Vec<Subject> {
    let workers: Vec<u32> = monitors.pids.iter().copied().flat_map(vhost_workers).collect();
    let attributed = |consumer, pids| Subject { consumer, pids, ..monitors.clone() };
    let (named, whole): (Vec<u32>, Vec<u32>) = monitors.pids.iter().partition(|pid| names_its_threads(**pid));
    let workers = Subject { syscalls: false, ..attributed(CpuConsumer::Vhost, workers) };
    let parts = [attributed(monitors.consumer, named), attributed(end(monitors.consumer), whole), workers];
    parts.into_iter().filter(|part| !part.pids.is_empty()).collect()
}

/// Returns whether this owner is the client's or the server's VM.
#[must_use]
pub const fn is_machine(consumer: CpuConsumer) -> bool {
    matches!(consumer, CpuConsumer::ClientVm | CpuConsumer::ServerVm)
}

/// Finds the `vhost-<pid>` kernel threads for this process's guest. Since Linux 6.4, these are threads of the process
/// itself and need no search.
pub(crate) fn vhost_workers(pid: u32) -> Vec<u32> {
    let wanted = format!("vhost-{pid}");
    all()
        .filter(|process| name(process).is_some_and(|name| name == wanted))
        .filter_map(|process| number(&process))
        .collect()
}

/// `vhost-<pid>` is a kernel thread up to Linux 6.3 and a VMM thread since then.
pub(crate) fn is_vhost(thread: &str) -> bool {
    thread.strip_prefix("vhost-").is_some_and(is_number)
}

/// Recognizes the vCPU threads of QEMU (with KVM or TCG), Firecracker, cloud-hypervisor and crosvm by name. Linux
/// truncates names to 15 characters.
pub(crate) fn is_vcpu(thread: &str) -> bool {
    let qemu = thread.starts_with("CPU ") && thread.contains('/');
    let all_in_one = thread.starts_with("ALL CPUs/");
    let numbered = ["fc_vcpu ", "vcpu", "crosvm_vcpu"]
        .iter()
        .filter_map(|start| thread.strip_prefix(start))
        .any(is_number);
    qemu || all_in_one || numbered
}

const fn end(machine: CpuConsumer) -> CpuConsumer {
    match machine {
        CpuConsumer::ClientVm => CpuConsumer::Client,
        CpuConsumer::ServerVm => CpuConsumer::Server,
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

    fn process_named(name: &str) -> (tempfile::TempDir, Child) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join(name);
        symlink("/bin/sleep", &program).expect("every system has it");
        let child = Command::new(program).arg("60").spawn().expect("executable");
        let wanted = |child: &Child| {
            open(child.id()).is_some_and(|found| super::name(&found).as_deref() == Some(name))
        };
        assert!((0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            wanted(&child)
        }));
        (folder, child)
    }

    fn thread_named(name: &str) -> Sender<()> {
        let (hold, released) = channel::<()>();
        let (begin, begun) = channel();
        let run = move || {
            let _ = begin.send(());
            let _ = released.recv();
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).expect("a thread");
        begun.recv().expect("it runs");
        hold
    }

    fn monitors(consumer: CpuConsumer, pids: &[u32]) -> Subject {
        Subject::of(consumer, pids.to_vec(), true)
    }

    #[test]
    fn machine_is_vmm_and_its_vhost_workers() {
        let _vcpu = thread_named("CPU 0/KVM");
        let (_folder, mut worker) = process_named(&format!("vhost-{}", id()));
        // The VMM's PID is a prefix or suffix of the number in these names.
        let (_folder, mut other) = process_named(&format!("vhost-{}1", id()));
        let found = machine(&monitors(CpuConsumer::ServerVm, &[id()]));
        let (worker_pid, _) = (worker.id(), [&mut worker, &mut other].map(|child| child.kill()));
        let subjects: Vec<_> = found.iter().map(|it| (it.consumer, &it.pids[..], it.syscalls)).collect();
        assert_eq!(
            subjects,
            [(CpuConsumer::ServerVm, &[id()][..], true), (CpuConsumer::Vhost, &[worker_pid][..], false)]
        );
        [worker, other].iter_mut().for_each(|child| drop(child.wait()));
    }

    #[test]
    fn vmm_without_thread_names_belongs_to_the_end() {
        let (_folder, mut monitor) = process_named("qemu-system-x86");
        let found = machine(&monitors(CpuConsumer::ClientVm, &[monitor.id()]));
        assert_eq!(found, [monitors(CpuConsumer::Client, &[monitor.id()])]);
        assert!(monitor.kill().and_then(|()| monitor.wait()).is_ok());
        assert_eq!(machine(&monitors(CpuConsumer::ClientVm, &[])), []);
    }
}

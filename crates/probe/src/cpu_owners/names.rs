//! Owner of a task from its names and its subject.

use samples::CpuOwner;

use crate::target::{is_machine, is_vcpu, is_vhost};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Names {
    pub(super) subject: Option<CpuOwner>,
    pub(super) kernel: bool,
    /// Empty for kernel threads.
    pub(super) process: String,
    /// Empty if threads are not distinguished.
    pub(super) thread: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnerName {
    pub(super) owner: CpuOwner,
    pub(super) process: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) cpu: Option<u32>,
}

impl OwnerName {
    pub(super) const fn all_of(owner: CpuOwner) -> Self {
        Self { owner, process: None, thread: None, cpu: None }
    }

    pub(super) const fn on(owner: CpuOwner, cpu: u32) -> Self {
        Self { owner, process: None, thread: None, cpu: Some(cpu) }
    }
}

impl Names {
    pub(super) fn shown(&self) -> OwnerName {
        let thread = named(&self.thread).filter(|thread| *thread != self.process);
        let process = named(&self.process);
        let owner = self.owner();
        match owner {
            CpuOwner::Ksoftirqd => OwnerName { owner, process: None, cpu: per_cpu(&self.thread), thread },
            CpuOwner::Kernel => OwnerName { owner, process: None, cpu: None, thread: pool(&self.thread) },
            CpuOwner::Other => OwnerName { owner, process, thread: None, cpu: None },
            _ => OwnerName { owner, process, thread, cpu: None },
        }
    }

    fn owner(&self) -> CpuOwner {
        match self.subject {
            Some(CpuOwner::Vhost) => CpuOwner::Vhost,
            _ if self.kernel && self.thread.starts_with("ksoftirqd/") => CpuOwner::Ksoftirqd,
            _ if self.kernel => CpuOwner::Kernel,
            Some(_) if is_vhost(&self.thread) => CpuOwner::Vhost,
            Some(owner) if is_machine(owner) && !is_vcpu(&self.thread) => CpuOwner::Vmm,
            Some(owner) => owner,
            None => CpuOwner::Other,
        }
    }
}

fn per_cpu(thread: &str) -> Option<u32> {
    thread.rsplit_once('/').and_then(|(_, cpu)| cpu.parse().ok())
}

fn pool(thread: &str) -> Option<String> {
    match thread.starts_with("kworker/") {
        true => named("kworker"),
        false => named(thread),
    }
}

fn named(name: &str) -> Option<String> {
    Some(name).filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(subject: Option<CpuOwner>, kernel: bool, process: &str, thread: &str) -> OwnerName {
        Names { subject, kernel, process: process.into(), thread: thread.into() }.shown()
    }

    fn check(owner: CpuOwner, subject: Option<CpuOwner>, kernel: bool, thread: &str) {
        let process = if kernel { "" } else { "a process" };
        assert_eq!(shown(subject, kernel, process, thread).owner, owner, "{subject:?} {kernel} {thread}");
    }

    #[test]
    fn assigns_threads_to_subject_kernel_or_others() {
        check(CpuOwner::Client, Some(CpuOwner::Client), false, "send-0");
        check(CpuOwner::Plumb, Some(CpuOwner::Plumb), false, "plumb");
        check(CpuOwner::Other, None, false, "");
        check(CpuOwner::Kernel, None, true, "rcu_preempt");
        check(CpuOwner::Kernel, Some(CpuOwner::Client), true, "rcu_preempt");
        check(CpuOwner::Ksoftirqd, None, true, "ksoftirqd/1");
        check(CpuOwner::Other, None, false, "ksoftirqd/1");
    }

    #[test]
    fn distinguishes_vcpu_threads_from_vmm_threads() {
        let guest = Some(CpuOwner::ServerVm);
        for vcpu in ["CPU 0/KVM", "CPU 12/TCG", "ALL CPUs/TCG", "fc_vcpu 0", "vcpu3", "crosvm_vcpu1"] {
            check(CpuOwner::ServerVm, guest, false, vcpu);
        }
        for other in ["qemu-system-x86", "IO mon_iothread", "fc_api", "vcpu", "CPU", "firecracker"] {
            check(CpuOwner::Vmm, guest, false, other);
        }
    }

    #[test]
    fn recognizes_vhost_workers_of_watched_guests() {
        for (subject, kernel) in [
            (CpuOwner::Vhost, true),
            (CpuOwner::ClientVm, false),
            (CpuOwner::ServerVm, false),
            (CpuOwner::Client, false),
        ] {
            check(CpuOwner::Vhost, Some(subject), kernel, "vhost-4711");
        }
        check(CpuOwner::Client, Some(CpuOwner::Client), false, "vhost-user");
    }

    #[test]
    fn other_vhost_workers_belong_to_kernel_or_process() {
        check(CpuOwner::Kernel, None, true, "vhost-4711");
        check(CpuOwner::Kernel, Some(CpuOwner::ClientVm), true, "vhost-4711");
        check(CpuOwner::Other, None, false, "vhost-4711");
    }

    #[test]
    fn keeps_relevant_names() {
        let names = |shown: OwnerName| (shown.process, shown.thread, shown.cpu);
        let text = |name: &str| Some(name.to_owned());
        let client = Some(CpuOwner::Client);
        assert_eq!(names(shown(client, false, "plumb", "send-0")), (text("plumb"), text("send-0"), None));
        assert_eq!(names(shown(client, false, "plumb", "plumb")), (text("plumb"), None, None));
        assert_eq!(names(shown(None, false, "sshd", "sshd")), (text("sshd"), None, None));
        assert_eq!(names(shown(None, true, "", "kworker/u8:1")), (None, text("kworker"), None));
        assert_eq!(names(shown(None, true, "", "ksoftirqd/3")), (None, text("ksoftirqd/3"), Some(3)));
    }
}

//! Determines the owner of a task from its names and its subject.

use samples::CpuConsumer;

use crate::target::{is_machine, is_vcpu, is_vhost};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Names {
    pub(super) subject: Option<CpuConsumer>,
    pub(super) kernel: bool,
    /// Empty for kernel threads.
    pub(super) process: String,
    /// Empty if threads are not distinguished.
    pub(super) thread: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConsumerName {
    pub(super) consumer: CpuConsumer,
    pub(super) process: Option<String>,
    pub(super) thread: Option<String>,
    pub(super) cpu: Option<u32>,
}

impl ConsumerName {
    pub(super) const fn all_of(consumer: CpuConsumer) -> Self {
        Self { consumer, process: None, thread: None, cpu: None }
    }

    pub(super) const fn on(consumer: CpuConsumer, cpu: u32) -> Self {
        Self { consumer, process: None, thread: None, cpu: Some(cpu) }
    }
}

impl Names {
    pub(super) fn display(&self) -> ConsumerName {
        let thread = named(&self.thread).filter(|thread| *thread != self.process);
        let process = named(&self.process);
        let consumer = self.consumer();
        match consumer {
            CpuConsumer::Ksoftirqd => {
                ConsumerName { consumer, process: None, cpu: per_cpu(&self.thread), thread }
            }
            CpuConsumer::Kernel => {
                ConsumerName { consumer, process: None, cpu: None, thread: pool(&self.thread) }
            }
            CpuConsumer::Other => ConsumerName { consumer, process, thread: None, cpu: None },
            _ => ConsumerName { consumer, process, thread, cpu: None },
        }
    }

    fn consumer(&self) -> CpuConsumer {
        match self.subject {
            Some(CpuConsumer::Vhost) => CpuConsumer::Vhost,
            _ if self.kernel && self.thread.starts_with("ksoftirqd/") => CpuConsumer::Ksoftirqd,
            _ if self.kernel => CpuConsumer::Kernel,
            Some(_) if is_vhost(&self.thread) => CpuConsumer::Vhost,
            Some(consumer) if is_machine(consumer) && !is_vcpu(&self.thread) => CpuConsumer::Vmm,
            Some(consumer) => consumer,
            None => CpuConsumer::Other,
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

    fn display(subject: Option<CpuConsumer>, kernel: bool, process: &str, thread: &str) -> ConsumerName {
        Names { subject, kernel, process: process.into(), thread: thread.into() }.display()
    }

    fn check(consumer: CpuConsumer, subject: Option<CpuConsumer>, kernel: bool, thread: &str) {
        let process = if kernel { "" } else { "a process" };
        assert_eq!(
            display(subject, kernel, process, thread).consumer,
            consumer,
            "{subject:?} {kernel} {thread}"
        );
    }

    #[test]
    fn assigns_threads_to_subject_kernel_or_others() {
        check(CpuConsumer::Client, Some(CpuConsumer::Client), false, "send-0");
        check(CpuConsumer::Plumb, Some(CpuConsumer::Plumb), false, "plumb");
        check(CpuConsumer::Other, None, false, "");
        check(CpuConsumer::Kernel, None, true, "rcu_preempt");
        check(CpuConsumer::Kernel, Some(CpuConsumer::Client), true, "rcu_preempt");
        check(CpuConsumer::Ksoftirqd, None, true, "ksoftirqd/1");
        check(CpuConsumer::Other, None, false, "ksoftirqd/1");
    }

    #[test]
    fn distinguishes_vcpu_threads_from_vmm_threads() {
        let guest = Some(CpuConsumer::ServerVm);
        for vcpu in ["CPU 0/KVM", "CPU 12/TCG", "ALL CPUs/TCG", "fc_vcpu 0", "vcpu3", "crosvm_vcpu1"] {
            check(CpuConsumer::ServerVm, guest, false, vcpu);
        }
        for other in ["qemu-system-x86", "IO mon_iothread", "fc_api", "vcpu", "CPU", "firecracker"] {
            check(CpuConsumer::Vmm, guest, false, other);
        }
    }

    #[test]
    fn recognizes_vhost_workers_of_watched_guests() {
        for (subject, kernel) in [
            (CpuConsumer::Vhost, true),
            (CpuConsumer::ClientVm, false),
            (CpuConsumer::ServerVm, false),
            (CpuConsumer::Client, false),
        ] {
            check(CpuConsumer::Vhost, Some(subject), kernel, "vhost-4711");
        }
        check(CpuConsumer::Client, Some(CpuConsumer::Client), false, "vhost-user");
    }

    #[test]
    fn other_vhost_workers_belong_to_kernel_or_process() {
        check(CpuConsumer::Kernel, None, true, "vhost-4711");
        check(CpuConsumer::Kernel, Some(CpuConsumer::ClientVm), true, "vhost-4711");
        check(CpuConsumer::Other, None, false, "vhost-4711");
    }

    #[test]
    fn keeps_relevant_names() {
        let names = |shown: ConsumerName| (shown.process, shown.thread, shown.cpu);
        let text = |name: &str| Some(name.to_owned());
        let client = Some(CpuConsumer::Client);
        assert_eq!(names(display(client, false, "plumb", "send-0")), (text("plumb"), text("send-0"), None));
        assert_eq!(names(display(client, false, "plumb", "plumb")), (text("plumb"), None, None));
        assert_eq!(names(display(None, false, "sshd", "sshd")), (text("sshd"), None, None));
        assert_eq!(names(display(None, true, "", "kworker/u8:1")), (None, text("kworker"), None));
        assert_eq!(names(display(None, true, "", "ksoftirqd/3")), (None, text("ksoftirqd/3"), Some(3)));
    }
}

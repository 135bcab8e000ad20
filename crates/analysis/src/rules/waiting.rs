//! Classifies system calls by name and caller: work, waiting, or running a guest.

use samples::SyscallCount;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The call does work for its caller, judging by the call's name.
    Work,
    Waiting,
    /// A running virtual CPU. KVM_RUN returns when it exits the guest.
    Guest,
}

/// Calls made in order to wait (section 2 of the Linux manual).
const WAITS: &[&str] = &[
    "accept",
    "accept4",
    "clock_nanosleep",
    "clock_nanosleep_time64",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_wait",
    "futex",
    "futex_wait",
    "futex_waitv",
    "io_getevents",
    "io_pgetevents",
    "io_uring_enter",
    "mq_timedreceive",
    "msgrcv",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pselect6",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "restart_syscall",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "select",
    "semtimedop",
    "sigsuspend",
    "wait4",
    "waitid",
    "waitpid",
];
/// Processes that run guests (QEMU, Firecracker, Cloud Hypervisor, crosvm, kvmtool), and their threads, e.g. `CPU
/// 0/KVM` or `fc_vcpu 0`.
const MONITORS: [&str; 8] = ["qemu", "kvm", "firecracker", "fc_vcpu", "cloud-hyp", "crosvm", "lkvm", "vcpu"];
/// An ioctl rarely takes this long unless it waits or runs a guest.
const LONG_NANOS: u64 = 20_000;

impl Kind {
    pub(crate) fn of(count: &SyscallCount) -> Self {
        match count.call.as_str() {
            "ioctl" if runs_a_guest(count) => Self::Guest,
            call if WAITS.contains(&call) => Self::Waiting,
            _ => Self::Work,
        }
    }

    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Waiting => "waiting",
            Self::Guest => "guest execution (KVM_RUN)",
        }
    }
}

/// Decides from the thread and process names or, if there are none, from the time per call.
fn runs_a_guest(count: &SyscallCount) -> bool {
    let names: Vec<String> =
        [&count.process, &count.thread].into_iter().flatten().map(|name| name.to_lowercase()).collect();
    let long = count.total.is_some_and(|total| total.0 / count.calls.max(1) >= LONG_NANOS);
    if names.is_empty() {
        long
    } else {
        names.iter().any(|name| MONITORS.iter().any(|word| name.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;

    fn call(process: Option<&str>, thread: Option<&str>, call: &str, calls: u64, total: u64) -> SyscallCount {
        SyscallCount {
            end: None,
            process: process.map(Into::into),
            thread: thread.map(Into::into),
            call: call.into(),
            calls,
            errors: None,
            total: Some(Nanos(total)),
            running: None,
            waiting: None,
            guest: None,
            ..SyscallCount::default()
        }
    }

    #[test]
    fn ioctl_of_a_monitor_or_long_ioctl_runs_a_guest() {
        for (given, kind) in [
            (call(None, Some("fc_vcpu 0"), "ioctl", 133_010, 30_335_638_095), Kind::Guest),
            (call(Some("qemu-system-x86"), Some("CPU 0/KVM"), "ioctl", 10, 10), Kind::Guest),
            (call(None, None, "ioctl", 699_450, 110_542_040_610), Kind::Guest),
            (call(None, None, "ioctl", 1000, 1_000_000), Kind::Work),
            (call(Some("ethtool"), None, "ioctl", 1, 90_000_000), Kind::Work),
            (call(Some("firecracker"), None, "readv", 617_066, 21_199_346_769), Kind::Work),
            (call(None, None, "pselect6", 1, 1), Kind::Waiting),
        ] {
            assert_eq!(Kind::of(&given), kind, "{given:?}");
        }
    }

    #[test]
    fn list_of_waiting_calls_is_sorted() {
        assert!(WAITS.is_sorted());
    }
}

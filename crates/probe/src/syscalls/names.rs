//! Names of system calls, and which of them return a number of bytes.

use syscalls::Sysno;

pub(crate) fn name(number: u32) -> String {
    match Sysno::new(number as usize) {
        Some(call) => call.name().to_owned(),
        None => format!("syscall {number}"),
    }
}

pub(crate) fn returns_bytes(call: &str) -> bool {
    MOVERS.binary_search(&call).is_ok()
}

/// Returns false for rt_sigreturn, which restores the return value of an interrupted call instead.
pub(crate) fn returns_anything(call: &str) -> bool {
    matches!(call, "rt_sigreturn" | "sigreturn")
}

const MOVERS: [&str; 25] = [
    "copy_file_range",
    "getrandom",
    "mq_timedreceive",
    "pread64",
    "preadv",
    "preadv2",
    "process_vm_readv",
    "process_vm_writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "send",
    "sendfile",
    "sendmsg",
    "sendto",
    "splice",
    "tee",
    "vmsplice",
    "write",
    "writev",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_the_manual() {
        for call in [Sysno::read, Sysno::ioctl, Sysno::futex, Sysno::io_uring_enter] {
            assert_eq!(name(call as u32), call.to_string());
        }
        assert_eq!(name(100_000), "syscall 100000");
    }

    #[test]
    fn only_byte_returning_calls_have_bytes() {
        assert!(MOVERS.is_sorted());
        for call in ["read", "write", "sendto", "recvmsg", "splice", "getrandom", "writev"] {
            assert!(returns_bytes(call), "{call}");
        }
        for call in ["sendmmsg", "recvmmsg", "epoll_wait", "mmap", "ioctl", "io_uring_enter"] {
            assert!(!returns_bytes(call), "{call}");
        }
    }
}

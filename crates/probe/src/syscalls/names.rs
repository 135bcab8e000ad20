//! What system calls are called, and which of them return how many bytes they moved. Must not know who made them.

use syscalls::Sysno;

/// Its name; `syscall 4242` for a number that is newer than the table.
pub(crate) fn name(number: u32) -> String {
    match Sysno::new(number as usize) {
        Some(call) => call.name().to_owned(),
        None => format!("syscall {number}"),
    }
}

/// Whether what the call returns is a number of bytes that it moved.
pub(crate) fn returns_bytes(call: &str) -> bool {
    MOVERS.binary_search(&call).is_ok()
}

/// Whether what the call returns is not its own: rt_sigreturn gives back what a signal interrupted.
pub(crate) fn returns_anything(call: &str) -> bool {
    matches!(call, "rt_sigreturn" | "sigreturn")
}

/// Of the manual pages of section 2, in order.
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
    fn numbers_have_the_names_of_the_manual() {
        for call in [Sysno::read, Sysno::ioctl, Sysno::futex, Sysno::io_uring_enter] {
            assert_eq!(name(call as u32), call.to_string());
        }
        assert_eq!(name(100_000), "syscall 100000");
    }

    #[test]
    fn bytes_are_those_of_calls_that_return_bytes() {
        assert!(MOVERS.is_sorted());
        for call in ["read", "write", "sendto", "recvmsg", "splice", "getrandom", "writev"] {
            assert!(returns_bytes(call), "{call}");
        }
        for call in ["sendmmsg", "recvmmsg", "epoll_wait", "mmap", "ioctl", "io_uring_enter"] {
            assert!(!returns_bytes(call), "{call}");
        }
    }
}

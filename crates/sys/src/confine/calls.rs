//! Groups of system calls by purpose. The server tests (tests/compat) cover all calls except those in [`RARE`].

use super::seccomp::Call::{self, Any, Bit, With};

pub const MEMORY: &[Call] = &[Any(libc::SYS_mmap), Any(libc::SYS_mprotect), Any(libc::SYS_munmap)];

pub const TIME: &[Call] = &[Any(libc::SYS_clock_gettime), Any(libc::SYS_clock_nanosleep)];

pub const OWN: &[Call] =
    &[With(libc::SYS_prctl, 0, &[libc::PR_SET_NAME as u32, libc::PR_SET_TIMERSLACK as u32, PR_GET_AUXV])];

pub const THREADS: &[Call] = &[
    Bit(libc::SYS_clone, 0, libc::CLONE_THREAD as u32),
    Any(libc::SYS_futex),
    Any(libc::SYS_sched_getaffinity),
    Any(libc::SYS_sched_setaffinity),
];

pub const SIGNALS: &[Call] = &[
    Any(libc::SYS_exit),
    Any(libc::SYS_exit_group),
    Any(libc::SYS_rt_sigaction),
    Any(libc::SYS_rt_sigprocmask),
    Any(libc::SYS_rt_sigreturn),
    Any(libc::SYS_sigaltstack),
];

pub const DESCRIPTORS: &[Call] = &[
    Any(libc::SYS_read),
    Any(libc::SYS_write),
    Any(libc::SYS_close),
    Any(libc::SYS_fcntl),
    Any(libc::SYS_fstat),
    With(libc::SYS_ioctl, 1, &[FIONBIO, libc::TIOCGWINSZ as u32]),
];

pub const POLLING: &[Call] = &[
    Any(libc::SYS_ppoll),
    Any(libc::SYS_epoll_create1),
    Any(libc::SYS_epoll_ctl),
    Any(libc::SYS_epoll_pwait),
    Any(libc::SYS_eventfd2),
];

/// Landlock restricts which files these calls can open.
pub const FILES: &[Call] = &[Any(OPEN)];

pub const SOCKETS: &[Call] = &[
    Any(libc::SYS_recvfrom),
    Any(libc::SYS_recvmsg),
    Any(libc::SYS_recvmmsg),
    Any(libc::SYS_sendto),
    Any(libc::SYS_sendmsg),
    Any(libc::SYS_sendmmsg),
    Any(libc::SYS_accept4),
    Any(libc::SYS_bind),
    Any(libc::SYS_connect),
    Any(libc::SYS_getpeername),
    Any(libc::SYS_getsockname),
    Any(libc::SYS_getsockopt),
    Any(libc::SYS_setsockopt),
    Any(libc::SYS_shutdown),
    With(libc::SYS_socket, 0, &[libc::AF_INET as u32, libc::AF_INET6 as u32, libc::AF_NETLINK as u32]),
    Any(libc::SYS_socketpair),
];

pub const PIPES: &[Call] = &[Any(libc::SYS_pipe2), Any(libc::SYS_splice), Any(libc::SYS_vmsplice)];

pub const MACHINE: &[Call] = &[Any(libc::SYS_getrandom), Any(libc::SYS_uname)];

/// Calls that tests cannot trigger on demand.
pub const RARE: &[Call] = &[
    // The C library's allocator uses this to grow its heap.
    Any(libc::SYS_brk),
    Any(libc::SYS_mremap),
    // The C library's spinlocks and new threads use this.
    Any(libc::SYS_sched_yield),
    // The kernel uses this to resume a wait after SIGSTOP.
    Any(libc::SYS_restart_syscall),
    // The C library uses this on machines without a vDSO.
    Any(libc::SYS_getcpu),
    // The C library's abort() uses this. If it were denied, a second message would be printed.
    Any(libc::SYS_tkill),
];

#[cfg(target_arch = "x86_64")]
const OPEN: i64 = libc::SYS_open;
#[cfg(not(target_arch = "x86_64"))]
const OPEN: i64 = libc::SYS_openat;

/// Reads the auxiliary vector. From linux/prctl.h.
const PR_GET_AUXV: u32 = 0x4155_5856;
/// From asm-generic/ioctls.h.
const FIONBIO: u32 = 0x5421;

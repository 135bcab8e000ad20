//! System calls in groups, by what they are for. A filter is put together of them. Each is made by some test of a server
//! (tests/compat), but for those of [`RARE`].

use super::seccomp::Call::{self, Any, Bit, With};

/// Memory of the process.
pub const MEMORY: &[Call] = &[Any(libc::SYS_mmap), Any(libc::SYS_mprotect), Any(libc::SYS_munmap)];

/// Clocks and sleep.
pub const TIME: &[Call] = &[Any(libc::SYS_clock_gettime), Any(libc::SYS_clock_nanosleep)];

/// What a thread says and asks of itself.
pub const OWN: &[Call] =
    &[With(libc::SYS_prctl, 0, &[libc::PR_SET_NAME as u32, libc::PR_SET_TIMERSLACK as u32, PR_GET_AUXV])];

/// Threads, and where they run.
pub const THREADS: &[Call] = &[
    Bit(libc::SYS_clone, 0, libc::CLONE_THREAD as u32),
    Any(libc::SYS_futex),
    Any(libc::SYS_sched_getaffinity),
    Any(libc::SYS_sched_setaffinity),
];

/// Signals that come, and the end.
pub const SIGNALS: &[Call] = &[
    Any(libc::SYS_exit),
    Any(libc::SYS_exit_group),
    Any(libc::SYS_rt_sigaction),
    Any(libc::SYS_rt_sigprocmask),
    Any(libc::SYS_rt_sigreturn),
    Any(libc::SYS_sigaltstack),
];

/// Descriptors, whatever they are of.
pub const DESCRIPTORS: &[Call] = &[
    Any(libc::SYS_read),
    Any(libc::SYS_write),
    Any(libc::SYS_close),
    Any(libc::SYS_fcntl),
    Any(libc::SYS_fstat),
    With(libc::SYS_ioctl, 1, &[FIONBIO, libc::TIOCGWINSZ as u32]),
];

/// Waiting for several descriptors at once.
pub const POLLING: &[Call] = &[
    Any(libc::SYS_ppoll),
    Any(libc::SYS_epoll_create1),
    Any(libc::SYS_epoll_ctl),
    Any(libc::SYS_epoll_pwait),
    Any(libc::SYS_eventfd2),
];

/// Files by name; which ones is not said here.
pub const FILES: &[Call] = &[Any(libc::SYS_open)];

/// Sockets of IPv4 and IPv6, and of what the kernel tells about devices and routes.
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

/// Pages that are moved without being copied.
pub const PIPES: &[Call] = &[Any(libc::SYS_pipe2), Any(libc::SYS_splice), Any(libc::SYS_vmsplice)];

/// What the machine is.
pub const MACHINE: &[Call] = &[Any(libc::SYS_getrandom), Any(libc::SYS_uname)];

/// What no client brings about at will.
pub const RARE: &[Call] = &[
    // The C library's allocator, when its own tables grow, and when a large block does.
    Any(libc::SYS_brk),
    Any(libc::SYS_mremap),
    // Where threads wait for each other by turns: at a start, and at the C library's locks.
    Any(libc::SYS_sched_yield),
    // The kernel's own, when a wait goes on after the process was stopped.
    Any(libc::SYS_restart_syscall),
    // Where there is no vDSO to ask.
    Any(libc::SYS_getcpu),
    // The C library's abort(): what it says before would be followed by another message.
    Any(libc::SYS_tkill),
];

/// Of linux/prctl.h: what the kernel told the program when it began.
const PR_GET_AUXV: u32 = 0x4155_5856;
/// Of asm-generic/ioctls.h.
const FIONBIO: u32 = 0x5421;

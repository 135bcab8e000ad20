//! System calls in groups, by what they are for. A filter is put together of them.

use super::seccomp::Call::{self, Any, Bit, Missing, With};

/// Memory of the process.
pub const MEMORY: &[Call] = &[
    Any(libc::SYS_brk),
    Any(libc::SYS_madvise),
    Any(libc::SYS_mmap),
    Any(libc::SYS_mprotect),
    Any(libc::SYS_mremap),
    Any(libc::SYS_munmap),
];

/// Clocks and sleep.
pub const TIME: &[Call] = &[
    Any(libc::SYS_clock_getres),
    Any(libc::SYS_clock_gettime),
    Any(libc::SYS_clock_nanosleep),
    Any(libc::SYS_gettimeofday),
    Any(libc::SYS_nanosleep),
    Any(libc::SYS_restart_syscall),
];

/// What a thread says and asks of itself.
pub const OWN: &[Call] = &[With(
    libc::SYS_prctl,
    0,
    &[
        libc::PR_SET_NAME as u32,
        libc::PR_GET_NAME as u32,
        libc::PR_SET_TIMERSLACK as u32,
        libc::PR_GET_TIMERSLACK as u32,
        PR_GET_AUXV,
    ],
)];

/// Threads, what they have used, and where they run.
pub const THREADS: &[Call] = &[
    Bit(libc::SYS_clone, 0, libc::CLONE_THREAD as u32),
    // Its flags lie in memory, where no filter sees them.
    Missing(libc::SYS_clone3),
    Any(libc::SYS_futex),
    Any(libc::SYS_get_robust_list),
    Any(libc::SYS_getcpu),
    Any(libc::SYS_getrusage),
    Any(libc::SYS_gettid),
    Any(libc::SYS_membarrier),
    Any(libc::SYS_rseq),
    Any(libc::SYS_sched_getaffinity),
    Any(libc::SYS_sched_setaffinity),
    Any(libc::SYS_sched_yield),
    Any(libc::SYS_set_robust_list),
    Any(libc::SYS_set_tid_address),
    Any(libc::SYS_times),
];

/// Signals that come, those that a thread raises against itself, and the end.
pub const SIGNALS: &[Call] = &[
    Any(libc::SYS_exit),
    Any(libc::SYS_exit_group),
    Any(libc::SYS_getpid),
    Any(libc::SYS_rt_sigaction),
    Any(libc::SYS_rt_sigprocmask),
    Any(libc::SYS_rt_sigreturn),
    Any(libc::SYS_sigaltstack),
    Any(libc::SYS_tgkill),
    Any(libc::SYS_tkill),
];

/// Descriptors, whatever they are of.
pub const DESCRIPTORS: &[Call] = &[
    Any(libc::SYS_read),
    Any(libc::SYS_write),
    Any(libc::SYS_readv),
    Any(libc::SYS_writev),
    Any(libc::SYS_close),
    Any(libc::SYS_dup),
    Any(libc::SYS_dup3),
    Any(libc::SYS_fcntl),
    Any(libc::SYS_fstat),
    Any(libc::SYS_lseek),
    With(
        libc::SYS_ioctl,
        1,
        &[
            FIONBIO,
            FIOCLEX,
            libc::FIONREAD as u32,
            libc::TIOCOUTQ as u32,
            libc::TIOCGWINSZ as u32,
            libc::TCGETS as u32,
            SIOCETHTOOL,
        ],
    ),
];

/// Waiting for several descriptors at once.
pub const POLLING: &[Call] = &[
    Any(libc::SYS_poll),
    Any(libc::SYS_ppoll),
    Any(libc::SYS_epoll_create1),
    Any(libc::SYS_epoll_ctl),
    Any(libc::SYS_epoll_pwait),
    Any(libc::SYS_epoll_wait),
    Any(libc::SYS_eventfd2),
    Any(libc::SYS_timerfd_create),
    Any(libc::SYS_timerfd_settime),
];

/// Files by name; which ones is not said here.
pub const FILES: &[Call] = &[
    Any(libc::SYS_access),
    Any(libc::SYS_getdents64),
    Any(libc::SYS_newfstatat),
    Any(libc::SYS_open),
    Any(libc::SYS_openat),
    Any(libc::SYS_pread64),
    Any(libc::SYS_readlink),
    Any(libc::SYS_readlinkat),
    Any(libc::SYS_stat),
    Any(libc::SYS_statx),
];

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
pub const PIPES: &[Call] =
    &[Any(libc::SYS_pipe2), Any(libc::SYS_splice), Any(libc::SYS_tee), Any(libc::SYS_vmsplice)];

/// What the machine is.
pub const MACHINE: &[Call] = &[
    Any(libc::SYS_getrandom),
    Any(libc::SYS_geteuid),
    Any(libc::SYS_getuid),
    Any(libc::SYS_prlimit64),
    Any(libc::SYS_sysinfo),
    Any(libc::SYS_uname),
];

/// Of linux/prctl.h: what the kernel told the program when it began.
const PR_GET_AUXV: u32 = 0x4155_5856;
/// Of asm-generic/ioctls.h and linux/sockios.h.
const FIONBIO: u32 = 0x5421;
const FIOCLEX: u32 = 0x5451;
const SIOCETHTOOL: u32 = 0x8946;

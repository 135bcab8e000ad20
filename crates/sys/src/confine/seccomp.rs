//! System call filters. A call that a filter does not allow ends the process: either the filter is incomplete,
//! or the process is under attack. See seccomp(2), linux/filter.h, linux/seccomp.h.
#![expect(unsafe_code, reason = "installs a filter and a signal handler that only makes system calls")]

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Any(i64),
    /// The given argument, counted from 0, must have one of these values in its lower 32 bits.
    With(i64, u8, &'static [u32]),
    /// The given argument must have this bit set.
    Bit(i64, u8, u32),
}

/// Installs a filter for this thread and for threads that it starts later. Any call that is not in `groups`
/// ends the process after printing `message` and the call's number to standard error. Sets `no_new_privs`.
pub fn filter_calls(groups: &[&[Call]], message: &'static str) -> Result<()> {
    install_handler(message)?;
    let installed = program(&groups.concat())
        .map_err(seccompiler::Error::from)
        .and_then(|program| seccompiler::apply_filter(&program));
    installed.map_err(|error| Error::last("install", format!("a filter of system calls ({error})")))
}

fn program(calls: &[Call]) -> std::result::Result<BpfProgram, BackendError> {
    let rule = |argument, comparison, value: u32| {
        SeccompRule::new(vec![SeccompCondition::new(argument, Dword, comparison, value.into())?])
    };
    let mut rules = BTreeMap::new();
    for call in calls {
        let (number, allowed) = match *call {
            Call::Any(number) => (number, Vec::new()),
            Call::With(number, argument, values) => {
                let allowed = values.iter().map(|value| rule(argument, SeccompCmpOp::Eq, *value));
                (number, allowed.collect::<std::result::Result<_, _>>()?)
            }
            Call::Bit(number, argument, bit) => {
                (number, vec![rule(argument, SeccompCmpOp::MaskedEq(bit.into()), bit)?])
            }
        };
        rules.insert(number, allowed);
    }
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Trap, SeccompAction::Allow, architecture)?.try_into()
}

static mut MESSAGE: &str = "";

fn install_handler(message: &'static str) -> Result<()> {
    // SAFETY: the process is single-threaded, and no handler reads `MESSAGE` yet.
    unsafe { MESSAGE = message };
    // SAFETY: an all-zero sigaction is valid: no flags and an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = denied as extern "C" fn(_, _, _) as usize;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the handler only makes system calls and accesses no data written by others.
    let done = unsafe { libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) };
    if done < 0 { Err(Error::last("handle", "SIGSYS")) } else { Ok(()) }
}

/// Only writes and exits, because the interrupted code may be in any state.
extern "C" fn denied(_signal: i32, about: *const libc::siginfo_t, _context: *const libc::c_void) {
    // In linux/siginfo.h, three integers and padding precede the call's address, number and architecture.
    const SYSCALL: usize = 24;
    // SAFETY: the kernel has filled `about`, and for SIGSYS it contains the number at this offset.
    let number = unsafe { about.cast::<u8>().add(SYSCALL).cast::<i32>().read_unaligned() };
    let mut digits = [b'0'; 10];
    let mut rest = number.unsigned_abs();
    let mut first = digits.len();
    while rest > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // SAFETY: `MESSAGE` is not written after the handler is installed.
    let message = unsafe { MESSAGE };
    for part in [message.as_bytes(), &digits[first..], b"\n"] {
        // SAFETY: the kernel reads `part.len()` bytes from a valid slice.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: the call ends the process without running its code.
    unsafe { libc::_exit(1) };
}

#[cfg(test)]
mod tests {
    use std::{io::Read, mem::offset_of, os::fd::AsRawFd};

    use super::*;
    use crate::{confine, forked_process};

    #[test]
    fn forbidden_call_ends_the_process_with_its_number() {
        let mut output = forked_process::start(|parent| {
            // SAFETY: the call only redirects the child's standard error to its parent.
            unsafe { libc::dup2(parent.as_raw_fd(), libc::STDERR_FILENO) };
            let groups = &[confine::calls::DESCRIPTORS, confine::calls::SIGNALS, confine::calls::MEMORY];
            filter_calls(groups, "denied: ").expect("a kernel with seccomp");
            // SAFETY: the call only returns a number.
            unsafe { libc::getppid() };
        })
        .expect("forks");
        let mut text = String::new();
        output.read_to_string(&mut text).expect("the child exits");
        assert_eq!(text, format!("denied: {}\n", libc::SYS_getppid));
    }

    fn run(calls: &[Call], number: i64, arguments: [u64; 6]) -> u32 {
        const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
        const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
        const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
        const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
        /// `AUDIT_ARCH_X86_64` from linux/audit.h.
        const X86_64: u32 = 0xc000_003e;
        let program = program(calls).expect("valid calls");
        let (mut at, mut accumulator) = (0, 0);
        loop {
            let step = &program[at];
            at += 1;
            match u32::from(step.code) {
                LOAD => {
                    accumulator = match step.k as usize {
                        offset if offset == offset_of!(libc::seccomp_data, nr) => number as u32,
                        offset if offset == offset_of!(libc::seccomp_data, arch) => X86_64,
                        offset => arguments[(offset - offset_of!(libc::seccomp_data, args)) / 8] as u32,
                    }
                }
                IF_EQUAL => at += usize::from(if accumulator == step.k { step.jt } else { step.jf }),
                JUMP => at += step.k as usize,
                AND => accumulator &= step.k,
                RETURN => return step.k,
                other => panic!("{other}"),
            }
        }
    }

    #[test]
    fn allows_only_listed_calls_and_arguments() {
        const CALLS: &[Call] =
            &[Call::Any(1), Call::With(41, 0, &[2, 10]), Call::Bit(56, 0, 0x1_0000), Call::Any(3)];
        let (allowed, denied) = (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_TRAP);
        for (number, argument, expected) in [
            (1, 7, allowed),
            (3, 7, allowed),
            (2, 7, denied),
            (41, 2, allowed),
            (41, 10, allowed),
            (41, 3, denied),
            (56, 0x5_0f00, allowed),
            (56, 0x4_0f00, denied),
            (435, 0, denied),
            (59, 0, denied),
            (0x4000_0001, 0, denied),
        ] {
            assert_eq!(run(CALLS, number, [argument; 6]), expected, "call {number} with {argument:#x}");
        }
    }

    #[test]
    fn groups_forbid_exec_other_processes_and_system_changes() {
        use confine::calls::*;
        let groups =
            [DESCRIPTORS, SOCKETS, POLLING, TIME, MEMORY, THREADS, OWN, SIGNALS, FILES, PIPES, MACHINE, RARE];
        let all = groups.concat();
        const TIOCSTI: u64 = 0x5412;
        /// System call numbers of the x32 ABI start here.
        const X32: i64 = 0x4000_0000;
        let child = libc::SIGCHLD as u64;
        for (number, arguments) in [
            (libc::SYS_execve, [0; 6]),
            (libc::SYS_execveat, [0; 6]),
            (libc::SYS_fork, [0; 6]),
            (libc::SYS_vfork, [0; 6]),
            (libc::SYS_clone, [child, 0, 0, 0, 0, 0]),
            (libc::SYS_clone, [libc::CLONE_NEWUSER as u64 | child, 0, 0, 0, 0, 0]),
            (libc::SYS_unshare, [0; 6]),
            (libc::SYS_setns, [0; 6]),
            (libc::SYS_ptrace, [0; 6]),
            (libc::SYS_process_vm_writev, [0; 6]),
            (libc::SYS_pidfd_getfd, [0; 6]),
            (libc::SYS_kill, [0; 6]),
            (libc::SYS_mount, [0; 6]),
            (libc::SYS_bpf, [0; 6]),
            (libc::SYS_perf_event_open, [0; 6]),
            (libc::SYS_io_uring_setup, [0; 6]),
            (libc::SYS_userfaultfd, [0; 6]),
            (libc::SYS_init_module, [0; 6]),
            (libc::SYS_keyctl, [0; 6]),
            (libc::SYS_setuid, [0; 6]),
            (libc::SYS_capset, [0; 6]),
            (libc::SYS_seccomp, [0; 6]),
            (libc::SYS_prctl, [libc::PR_SET_SECCOMP as u64, 0, 0, 0, 0, 0]),
            (libc::SYS_prctl, [libc::PR_SET_DUMPABLE as u64, 0, 0, 0, 0, 0]),
            (libc::SYS_socket, [libc::AF_UNIX as u64, 0, 0, 0, 0, 0]),
            (libc::SYS_socket, [libc::AF_PACKET as u64, 0, 0, 0, 0, 0]),
            (libc::SYS_socket, [libc::AF_ALG as u64, 0, 0, 0, 0, 0]),
            (libc::SYS_ioctl, [0, TIOCSTI, 0, 0, 0, 0]),
            (libc::SYS_unlink, [0; 6]),
            (libc::SYS_rename, [0; 6]),
            (libc::SYS_getdents64 | X32, [0; 6]),
        ] {
            let verdict = run(&all, number, arguments);
            assert_eq!(verdict, libc::SECCOMP_RET_TRAP, "call {number} with {arguments:?}");
        }
    }
}

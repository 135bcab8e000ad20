//! Traces system calls of other processes with PTRACE_SEIZE (Linux 3.4) and PTRACE_GET_SYSCALL_INFO (Linux
//! 5.3). All calls must come from the tracing thread. When that thread ends, the kernel detaches from all
//! traced threads, because PTRACE_O_EXITKILL is never set.
#![expect(unsafe_code, reason = "ptrace(2), waitpid(2) with __WNOTHREAD and timers have no rustix wrappers")]

use std::{io, mem::MaybeUninit, ptr::null_mut, time::Duration};

use crate::error::{Error, Result};

const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC;
const PTRACE_GET_SYSCALL_INFO: Request = 0x420e;
const ENTRY: u8 = 1;
const EXIT: u8 = 2;
/// PTRACE_O_TRACESYSGOOD sets the additional bit.
const SYSCALL: i32 = libc::SIGTRAP | 0x80;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub tid: u32,
    pub what: TraceEvent,
}

/// The thread stays stopped until it is resumed, except after `Ended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEvent {
    Call,
    /// The thread was stopped by [`interrupt`], has just started, or has called exec, fork or clone.
    Stopped,
    Signal(i32),
    GroupStop,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    Enter { number: u64 },
    Exit { value: i64, failed: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    ToCall,
    Freely,
}

/// Starts tracing a thread, and threads that it creates later, without stopping it.
pub fn seize(tid: u32) -> Result<()> {
    request(libc::PTRACE_SEIZE, tid, 0, OPTIONS as usize, "watch")
}

pub fn interrupt(tid: u32) -> Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0, "interrupt")
}

/// If `signal` is 0, no signal is delivered.
pub fn go(tid: u32, on: On, signal: i32) -> Result<()> {
    let how = match on {
        On::ToCall => libc::PTRACE_SYSCALL,
        On::Freely => libc::PTRACE_CONT,
    };
    request(how, tid, 0, signal.unsigned_abs() as usize, "resume")
}

/// Leaves the thread in its group stop.
pub fn listen(tid: u32) -> Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0, 0, "listen for events of")
}

pub fn detach(tid: u32, signal: i32) -> Result<()> {
    request(libc::PTRACE_DETACH, tid, 0, signal.unsigned_abs() as usize, "detach from")
}

/// Returns the system call, or `None` if the thread is not stopped at a system call.
pub fn call(tid: u32) -> Result<Option<Call>> {
    let mut info = MaybeUninit::<Info>::zeroed();
    let room = size_of::<Info>();
    request(PTRACE_GET_SYSCALL_INFO, tid, room, info.as_mut_ptr() as usize, "read the system call of")?;
    // SAFETY: the structure consists of integers, for which zero is valid; the kernel has written the fields
    // it knows.
    let info = unsafe { info.assume_init() };
    Ok(match info.op {
        ENTRY => Some(Call::Enter { number: info.first }),
        EXIT => Some(Call::Exit { value: info.first.cast_signed(), failed: info.second & 0xff != 0 }),
        _ => None,
    })
}

/// Reaps traced children of this process, so no other code can wait for them. Returns `None` when a [`Bell`] rings or
/// no traced threads remain.
pub fn wait() -> Result<Option<Event>> {
    let mut status = 0;
    // SAFETY: waitpid writes an int to `status`. __WNOTHREAD excludes children of other threads.
    let tid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
    if tid < 0 {
        return match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR | libc::ECHILD) => Ok(None),
            _ => Err(Error::last("await", "watched threads")),
        };
    }
    Ok(Some(Event { tid: tid.unsigned_abs(), what: event_of(status) }))
}

fn event_of(status: i32) -> TraceEvent {
    if !libc::WIFSTOPPED(status) {
        return TraceEvent::Ended;
    }
    let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
    match (signal, event) {
        (SYSCALL, 0) => TraceEvent::Call,
        (libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU, libc::PTRACE_EVENT_STOP) => {
            TraceEvent::GroupStop
        }
        (signal, 0) => TraceEvent::Signal(signal),
        _ => TraceEvent::Stopped,
    }
}

#[repr(C)]
struct Info {
    op: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    first: u64,
    second: u64,
    rest: [u64; 5],
}

#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

fn request(code: Request, tid: u32, address: usize, data: usize, operation: &'static str) -> Result<()> {
    let object = || format!("thread {tid}");
    let number = i32::try_from(tid).map_err(|_| Error::new(operation, object(), libc::ESRCH))?;
    // SAFETY: only PTRACE_GET_SYSCALL_INFO writes memory of this process: up to `address` bytes to `data`, which has
    // that size.
    let done =
        unsafe { libc::ptrace(code as _, number, address as *mut libc::c_void, data as *mut libc::c_void) };
    if done < 0 { Err(Error::last(operation, object())) } else { Ok(()) }
}

/// Makes [`wait`] return periodically. The handler of its signal (SIGURG, ignored by default) does nothing.
#[derive(Debug)]
pub struct Bell(libc::timer_t);

impl Bell {
    pub fn every(time: Duration) -> Result<Self> {
        // SAFETY: all-zero is a valid sigaction; the handler accesses nothing, and SA_RESTART is not set.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            if libc::sigaction(libc::SIGURG, &raw const action, null_mut()) < 0 {
                return Err(Error::last("handle", "SIGURG"));
            }
        }
        // SAFETY: all-zero is a valid sigevent.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGURG;
        // SAFETY: gettid has no arguments and cannot fail.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer: libc::timer_t = null_mut();
        // SAFETY: timer_create reads a sigevent and writes a timer_t.
        if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) } < 0 {
            return Err(Error::last("make", "a timer"));
        }
        let bell = Self(timer);
        // SAFETY: all-zero is a valid timespec and itimerspec.
        let mut times: libc::itimerspec = unsafe { std::mem::zeroed() };
        times.it_interval.tv_nsec = time.subsec_nanos().into();
        times.it_value = times.it_interval;
        // SAFETY: the timer was just created; `times` is only read.
        if unsafe { libc::timer_settime(bell.0, 0, &raw const times, null_mut()) } < 0 {
            return Err(Error::last("set", "a timer"));
        }
        Ok(bell)
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // SAFETY: this value owns the timer, which is not used afterwards.
        unsafe { libc::timer_delete(self.0) };
    }
}

extern "C" fn nothing(_: libc::c_int) {}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests open files and wait")]
mod tests {
    use std::{io::Read, os::unix::process::CommandExt, process::Command, process::Stdio, time::Instant};

    use super::*;

    fn copier() -> std::process::Child {
        let mut command = Command::new("dd");
        command.args(["bs=1", "count=1", "status=none"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("coreutils")
    }

    #[test]
    fn traces_system_calls_until_exit() {
        let mut child = copier();
        std::thread::sleep(Duration::from_millis(300));
        let tid = child.id();
        seize(tid).expect("own child");
        interrupt(tid).expect("traced");
        let _bell = Bell::every(Duration::from_millis(20)).expect("timers");
        let (mut written, mut entered) = (false, None);
        let mut to = child.stdin.take();
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let Some(event) = wait().expect("waits") else { continue };
            assert_eq!(event.tid, tid);
            let signal = match event.what {
                TraceEvent::Ended => break,
                TraceEvent::Call => {
                    match call(tid).expect("stopped") {
                        Some(Call::Enter { number }) => entered = Some(number),
                        Some(Call::Exit { value, failed }) => {
                            let is_write = entered == Some(libc::SYS_write.unsigned_abs());
                            written |= is_write && value == 1 && !failed;
                        }
                        None => {}
                    }
                    0
                }
                TraceEvent::Signal(signal) => signal,
                TraceEvent::Stopped | TraceEvent::GroupStop => {
                    if let Some(mut to) = to.take() {
                        std::io::Write::write_all(&mut to, b"x").expect("the child reads");
                    }
                    0
                }
            };
            go(tid, On::ToCall, signal).expect("stopped");
        }
        let mut out = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
        assert!(written && out == "x", "{out}");
        let _ = child.wait();
    }

    #[test]
    fn detached_process_continues_untraced() {
        let mut child = copier();
        let tid = child.id();
        seize(tid).expect("own child");
        interrupt(tid).expect("traced");
        let _bell = Bell::every(Duration::from_millis(20)).expect("timers");
        while wait().expect("waits").is_none() {}
        detach(tid, 0).expect("stopped");
        let status = std::fs::read_to_string(format!("/proc/{tid}/status")).expect("running");
        assert!(status.contains("TracerPid:\t0"), "{status}");
        drop(child.stdin.take());
        assert!(child.wait().expect("a child").success());
    }

    #[test]
    fn rejects_missing_thread() {
        for tid in [u32::MAX, 4_194_303] {
            let error = seize(tid).expect_err("no such thread");
            assert_eq!(error.errno(), libc::ESRCH, "{error}");
            assert!(error.to_string().contains(&tid.to_string()), "{error}");
        }
    }
}

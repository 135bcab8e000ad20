//! Watching the system calls of other processes by stopping them at each: ptrace(2), by PTRACE_SEIZE (Linux 3.4) and
//! PTRACE_GET_SYSCALL_INFO (5.3). Whoever watches is a thread: all calls here have to come from it, and when it ends, however
//! that happens, the kernel lets everything go that it watched (PTRACE_O_EXITKILL is never set).
//!
//! It must not know which calls anybody counts.
#![expect(unsafe_code, reason = "ptrace(2), waitpid(2) with __WNOTHREAD, timers: rustix has none of them")]

use std::{io, mem::MaybeUninit, ptr::null_mut, time::Duration};

use crate::error::{Error, Result};

const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC;
/// Of linux/ptrace.h.
const PTRACE_GET_SYSCALL_INFO: Request = 0x420e;
const ENTRY: u8 = 1;
const EXIT: u8 = 2;
/// What a stop at a system call is told apart from a signal by (PTRACE_O_TRACESYSGOOD).
const SYSCALL: i32 = libc::SIGTRAP | 0x80;

/// Something that a watched thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Which thread.
    pub tid: u32,
    /// What it did.
    pub what: TraceEvent,
}

/// What a watched thread did. It stands still after all but its end, until it is told to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEvent {
    /// It is about to begin, or to return from, a system call: which, [`call`] tells.
    Call,
    /// It stopped because it was asked to, or because it has just begun; or its process called exec, or made another.
    Stopped,
    /// A signal is to be delivered to it.
    Signal(i32),
    /// A signal has stopped its whole process.
    GroupStop,
    /// It is gone.
    Ended,
}

/// A stop at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// It begins.
    Enter {
        /// Which, by number.
        number: u64,
    },
    /// It has ended.
    Exit {
        /// What it returns.
        value: i64,
        /// Whether that is an error.
        failed: bool,
    },
}

/// How a thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// To the next system call.
    ToCall,
    /// Unwatched, until it is asked to stop.
    Freely,
}

/// Watches a thread, and those that it makes from then on; it does not stop for that.
pub fn seize(tid: u32) -> Result<()> {
    request(libc::PTRACE_SEIZE, tid, 0, OPTIONS as usize, "watch")
}

/// Asks a watched thread to stop.
pub fn interrupt(tid: u32) -> Result<()> {
    request(libc::PTRACE_INTERRUPT, tid, 0, 0, "interrupt")
}

/// Has a thread go on that stands still, with a signal delivered to it; 0 is none.
pub fn go(tid: u32, on: On, signal: i32) -> Result<()> {
    let how = match on {
        On::ToCall => libc::PTRACE_SYSCALL,
        On::Freely => libc::PTRACE_CONT,
    };
    request(how, tid, 0, signal.unsigned_abs() as usize, "go on with")
}

/// Leaves a thread stopped by a signal as it is, and hears of what it does next.
pub fn listen(tid: u32) -> Result<()> {
    request(libc::PTRACE_LISTEN, tid, 0, 0, "listen to")
}

/// Lets go of a thread that stands still, with a signal delivered to it; 0 is none.
pub fn detach(tid: u32, signal: i32) -> Result<()> {
    request(libc::PTRACE_DETACH, tid, 0, signal.unsigned_abs() as usize, "let go of")
}

/// At which system call a thread stands; `None` when it does not stand at one.
pub fn call(tid: u32) -> Result<Option<Call>> {
    let mut info = MaybeUninit::<Info>::zeroed();
    let room = size_of::<Info>();
    request(PTRACE_GET_SYSCALL_INFO, tid, room, info.as_mut_ptr() as usize, "ask for the system call of")?;
    // SAFETY: plain numbers, for which zero is a valid value; the kernel has written as many of them as it has.
    let info = unsafe { info.assume_init() };
    Ok(match info.op {
        ENTRY => Some(Call::Enter { number: info.first }),
        EXIT => Some(Call::Exit { value: info.first.cast_signed(), failed: info.second & 0xff != 0 }),
        _ => None,
    })
}

/// Awaits what a thread does that the calling thread watches, or a child of it; a watched child of this very process is waited
/// for by this and can be by nobody else; `None` when a [`Bell`] rang, or none is watched any more.
pub fn wait() -> Result<Option<Event>> {
    let mut status = 0;
    // SAFETY: waitpid writes an int; `status` is one. __WNOTHREAD leaves the children of other threads alone.
    let tid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD) };
    if tid < 0 {
        return match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR | libc::ECHILD) => Ok(None),
            _ => Err(Error::last("await", "watched threads")),
        };
    }
    Ok(Some(Event { tid: tid.unsigned_abs(), what: what(status) }))
}

fn what(status: i32) -> TraceEvent {
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

/// The head of `struct ptrace_syscall_info` of linux/ptrace.h.
#[repr(C)]
struct Info {
    op: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    /// The number of a call that begins; what one that ends returns.
    first: u64,
    /// The first argument of a call that begins; whether one that ends has failed, in the first byte.
    second: u64,
    rest: [u64; 5],
}

/// As the C library has it.
#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

fn request(what: Request, tid: u32, address: usize, data: usize, operation: &'static str) -> Result<()> {
    let object = || format!("thread {tid}");
    let number = i32::try_from(tid).map_err(|_| Error::new(operation, object(), libc::ESRCH))?;
    // SAFETY: of the requests made here only PTRACE_GET_SYSCALL_INFO writes memory of this process: as many bytes as the
    // address says, to `data`, which points to as many.
    let done =
        unsafe { libc::ptrace(what as _, number, address as *mut libc::c_void, data as *mut libc::c_void) };
    if done < 0 { Err(Error::last(operation, object())) } else { Ok(()) }
}

/// Rings in the calling thread again and again, so that a [`wait`] returns at least so often. Its signal (SIGURG, which does
/// nothing by itself) is handled by doing nothing.
#[derive(Debug)]
pub struct Bell(libc::timer_t);

impl Bell {
    /// Rings the calling thread every so often: after less than a second.
    pub fn every(time: Duration) -> Result<Self> {
        // SAFETY: all zeroes is a value of sigaction; the handler touches nothing, and SA_RESTART is not set.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            if libc::sigaction(libc::SIGURG, &raw const action, null_mut()) < 0 {
                return Err(Error::last("handle", "SIGURG"));
            }
        }
        // SAFETY: all zeroes is a value of sigevent.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGURG;
        // SAFETY: gettid takes nothing and cannot fail.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer: libc::timer_t = null_mut();
        // SAFETY: timer_create reads a sigevent and writes a timer_t, which these are.
        if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) } < 0 {
            return Err(Error::last("make", "a timer"));
        }
        let bell = Self(timer);
        // SAFETY: all zeroes is a value of timespec and itimerspec.
        let mut times: libc::itimerspec = unsafe { std::mem::zeroed() };
        times.it_interval.tv_nsec = time.subsec_nanos().into();
        times.it_value = times.it_interval;
        // SAFETY: the timer was just made; `times` is read only.
        if unsafe { libc::timer_settime(bell.0, 0, &raw const times, null_mut()) } < 0 {
            return Err(Error::last("set", "a timer"));
        }
        Ok(bell)
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // SAFETY: the timer is this value's own, and is not used afterwards.
        unsafe { libc::timer_delete(self.0) };
    }
}

extern "C" fn nothing(_: libc::c_int) {}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests open files and wait")]
mod tests {
    use std::{io::Read, os::unix::process::CommandExt, process::Command, process::Stdio, time::Instant};

    use super::*;

    /// Copies a byte from its input to its output and ends.
    fn copier() -> std::process::Child {
        let mut command = Command::new("dd");
        command.args(["bs=1", "count=1", "status=none"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("coreutils")
    }

    #[test]
    fn a_process_is_watched_through_its_calls_to_its_end() {
        let mut child = copier();
        std::thread::sleep(Duration::from_millis(300));
        let tid = child.id();
        seize(tid).expect("a child may be watched");
        interrupt(tid).expect("it is watched");
        let _bell = Bell::every(Duration::from_millis(20)).expect("timers");
        let (mut written, mut entered) = (false, None);
        let mut to = child.stdin.take();
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let Some(event) = wait().expect("it waits") else { continue };
            assert_eq!(event.tid, tid);
            let signal = match event.what {
                TraceEvent::Ended => break,
                TraceEvent::Call => {
                    match call(tid).expect("it stands") {
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
                    // From here on its calls are seen.
                    if let Some(mut to) = to.take() {
                        std::io::Write::write_all(&mut to, b"x").expect("it reads");
                    }
                    0
                }
            };
            go(tid, On::ToCall, signal).expect("it stands");
        }
        let mut out = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
        assert!(written && out == "x", "{out}");
        // It was waited for as a watched one.
        let _ = child.wait();
    }

    #[test]
    fn a_process_that_is_let_go_runs_on_unwatched() {
        let mut child = copier();
        let tid = child.id();
        seize(tid).expect("a child may be watched");
        interrupt(tid).expect("it is watched");
        let _bell = Bell::every(Duration::from_millis(20)).expect("timers");
        while wait().expect("it waits").is_none() {}
        detach(tid, 0).expect("it stands");
        let status = std::fs::read_to_string(format!("/proc/{tid}/status")).expect("it runs");
        assert!(status.contains("TracerPid:\t0"), "{status}");
        drop(child.stdin.take());
        assert!(child.wait().expect("a child").success());
    }

    #[test]
    fn what_is_no_thread_cannot_be_watched() {
        for tid in [u32::MAX, 4_194_303] {
            let error = seize(tid).expect_err("there is none");
            assert_eq!(error.errno(), libc::ESRCH, "{error}");
            assert!(error.to_string().contains(&tid.to_string()), "{error}");
        }
    }
}

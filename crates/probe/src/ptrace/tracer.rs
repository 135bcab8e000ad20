//! The thread that watches: attaches, has threads go on from call to call or freely, and lets go at the end. Should it die,
//! the kernel lets go. Must not know what is done with what it counts.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use sys::ptrace::{self, Bell, Call, Event, On, TraceEvent};

use super::{
    Slices,
    counts::{Caller, Tallies, slice},
    lock,
    progress::Progress,
};
use crate::observe::ProbeError;

/// How often it is looked whether something is to be done.
const GLANCE: Duration = Duration::from_millis(20);
/// So long a thread has to stop before it is left to the kernel to let go of it.
const GRACE: Duration = Duration::from_secs(2);

/// `prctl`, by which a thread names itself (x86-64, syscall_64.tbl).
const RENAMES: u64 = 157;

/// A thread that is watched.
#[derive(Default)]
struct TracedThread {
    who: Caller,
    /// The call that it is in, and since when.
    entered: Option<(u64, Instant)>,
}

/// What watches.
pub(super) struct Tracer {
    threads: HashMap<u32, TracedThread>,
    slices: Option<Slices>,
    looking: bool,
    since: Instant,
    then: Progress,
    seen: Arc<Mutex<Tallies>>,
    _bell: Bell,
}

impl Tracer {
    /// Watches all threads of these processes. None of them stands still because of that.
    pub(super) fn attach(
        pids: &[u32],
        slices: Option<Slices>,
        seen: Arc<Mutex<Tallies>>,
    ) -> Result<Self, ProbeError> {
        let bell = Bell::every(GLANCE).map_err(|error| failed("ring", &error))?;
        let (since, then) = (Instant::now(), Progress::default());
        let mut tracer =
            Self { threads: HashMap::new(), slices, looking: false, since, then, seen, _bell: bell };
        for pid in pids {
            tracer.attach_process(*pid)?;
        }
        tracer.begin(true);
        Ok(tracer)
    }

    /// Threads that begin meanwhile are found by looking again, until there is none.
    fn attach_process(&mut self, pid: u32) -> Result<(), ProbeError> {
        loop {
            let tasks =
                fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
            let tids = tasks.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
            let new: Vec<u32> = tids.filter(|tid| !self.threads.contains_key(tid)).collect();
            if new.is_empty() {
                return Ok(());
            }
            for tid in new {
                match ptrace::seize(tid) {
                    Ok(()) => {}
                    Err(error) if error.is_permission() && self.is_own(tid) => {}
                    Err(error) if error.is_permission() => return Err(forbidden(pid, tid, &error)),
                    // It has ended.
                    Err(_) => {}
                }
                self.name(tid);
            }
        }
    }

    /// Whether it was watched already as the child of a thread that was: then it is this thread's.
    fn is_own(&self, tid: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
        field(&status, "TracerPid:").is_some_and(|tracer| tracer == std::process::id() || tracer == own_tid())
    }

    /// Watches until it is told to stop or nothing is left; then lets go.
    pub(super) fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) && !self.threads.is_empty() {
            if self.is_over() {
                self.end();
                self.begin(!self.looking);
            }
            match ptrace::wait() {
                Ok(Some(event)) => self.handle(event),
                Ok(None) => {}
                Err(_) => break,
            }
        }
        self.end();
        self.let_go();
    }

    fn is_over(&self) -> bool {
        let length = |slices: Slices| if self.looking { slices.looking } else { slices.resting };
        self.slices.is_some_and(|slices| self.since.elapsed() >= length(slices))
    }

    fn begin(&mut self, looking: bool) {
        self.threads.retain(|tid, _| fs::exists(format!("/proc/{tid}")).unwrap_or_default());
        (self.looking, self.since, self.then) = (looking, Instant::now(), self.progress());
        lock(&self.seen).looking_since = looking.then_some(self.since);
        if looking {
            for tid in self.threads.keys() {
                // One that has ended meanwhile says so.
                let _ = ptrace::interrupt(*tid);
            }
        }
    }

    fn end(&mut self) {
        let elapsed = self.since.elapsed();
        let (cpu, moved) = self.progress().since(&self.then);
        let whole = self.slices.is_some() && self.is_over();
        let mut seen = lock(&self.seen);
        if seen.looking_since.take().is_some() {
            seen.stopping.looked = seen.stopping.looked + elapsed.into();
        }
        if whole {
            seen.slice(slice(self.looking, elapsed, cpu, moved));
        }
    }

    fn progress(&self) -> Progress {
        Progress::of(self.threads.values().map(|thread| (thread.who.tid, thread.who.pid)))
    }

    /// Has a thread go on that stands still; how long it stood is added up, as far as it is seen from here.
    fn handle(&mut self, event: Event) {
        let stood = Instant::now();
        let (tid, on) = (event.tid, if self.looking { On::ToCall } else { On::Freely });
        let gone = match event.what {
            TraceEvent::Ended => {
                self.threads.remove(&tid);
                return;
            }
            TraceEvent::Call => {
                self.call(tid, stood);
                ptrace::go(tid, on, 0)
            }
            TraceEvent::Stopped => {
                // It has just begun, or its program may be another.
                self.name(tid);
                ptrace::go(tid, on, 0)
            }
            TraceEvent::Signal(signal) => ptrace::go(tid, on, signal),
            TraceEvent::GroupStop => ptrace::listen(tid),
        };
        // One that was killed meanwhile says so next.
        drop(gone);
        let stood = stood.elapsed().into();
        let mut seen = lock(&self.seen);
        seen.stopping.stood = seen.stopping.stood + stood;
    }

    fn call(&mut self, tid: u32, at: Instant) {
        let Ok(Some(call)) = ptrace::call(tid) else { return };
        if !self.threads.contains_key(&tid) {
            self.name(tid);
        }
        let thread = self.threads.entry(tid).or_default();
        match call {
            // What begins or ends while nobody looks is not counted, nor is what is under way when a slice ends.
            _ if !self.looking => thread.entered = None,
            Call::Enter { number } => thread.entered = Some((number, Instant::now())),
            Call::Exit { value, failed } => {
                if let Some((number, since)) = thread.entered.take() {
                    let took = at.saturating_duration_since(since);
                    lock(&self.seen).count(tid, number, took, value, failed);
                    if number == RENAMES {
                        self.name(tid);
                    }
                }
            }
        }
    }

    /// Reads what a thread is called, and whose it is.
    fn name(&mut self, tid: u32) {
        let who = who(tid);
        lock(&self.seen).named(&who);
        self.threads.entry(tid).or_default().who = who;
    }

    fn let_go(&mut self) {
        self.threads.keys().for_each(|tid| drop(ptrace::interrupt(*tid)));
        let until = Instant::now() + GRACE;
        while !self.threads.is_empty() && Instant::now() < until {
            let Ok(event) = ptrace::wait() else { return };
            let Some(Event { tid, what }) = event else {
                self.threads.retain(|tid, _| fs::exists(format!("/proc/{tid}")).unwrap_or_default());
                continue;
            };
            let signal = if let TraceEvent::Signal(signal) = what { signal } else { 0 };
            if what != TraceEvent::Ended {
                let _ = ptrace::detach(tid, signal);
            }
            self.threads.remove(&tid);
        }
    }
}

fn who(tid: u32) -> Caller {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let name = |id: u32| read(format!("/proc/{id}/comm")).trim_end().to_owned();
    let pid = field(&read(format!("/proc/{tid}/status")), "Tgid:").unwrap_or(tid);
    Caller { tid, pid, thread: name(tid), process: name(pid) }
}

fn field(status: &str, name: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// The number of the calling thread.
fn own_tid() -> u32 {
    let link = fs::read_link("/proc/thread-self").ok();
    link.and_then(|link| link.file_name()?.to_str()?.parse().ok()).unwrap_or_default()
}

fn failed(operation: &str, error: &sys::Error) -> ProbeError {
    ProbeError::Failed {
        operation: format!("{operation} the thread that watches"),
        because: error.to_string(),
    }
}

fn forbidden(pid: u32, tid: u32, error: &sys::Error) -> ProbeError {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    let because = format!("process {pid} may not be watched by ptrace: {error}");
    let remedy = match field(&status, "TracerPid:") {
        Some(tracer) if tracer != 0 => {
            format!("process {tracer} watches it already (strace or a debugger): end that")
        }
        _ => "run as root; in containers CAP_SYS_PTRACE is needed, and kernel.yama.ptrace_scope below 3"
            .to_owned(),
    };
    ProbeError::Unavailable { because, remedy }
}

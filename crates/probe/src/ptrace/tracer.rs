//! The tracer thread: attaches to threads, lets them run freely or from call to call, and detaches.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use sys::ptrace::{self, Bell, Call, Event, On, TraceEvent};

use super::{
    Slices,
    counts::{Caller, Tallies, slice},
    progress::Progress,
};
use crate::observe::ProbeError;

const GLANCE: Duration = Duration::from_millis(20);
const GRACE: Duration = Duration::from_secs(2);

/// A thread sets its name with this call.
const RENAMES: u64 = syscalls::Sysno::prctl as u64;

#[derive(Default)]
struct TracedThread {
    caller: Caller,
    entered: Option<(u64, Instant)>,
}

pub(super) struct Tracer {
    threads: HashMap<u32, TracedThread>,
    slices: Option<Slices>,
    counting: bool,
    since: Instant,
    then: Progress,
    tallies: Arc<Mutex<Tallies>>,
    _bell: Bell,
}

impl Tracer {
    pub(super) fn attach(
        pids: &[u32],
        slices: Option<Slices>,
        tallies: Arc<Mutex<Tallies>>,
    ) -> Result<Self, ProbeError> {
        let bell = Bell::every(GLANCE).map_err(|error| failed("ring", &error))?;
        let (since, then) = (Instant::now(), Progress::default());
        let mut tracer =
            Self { threads: HashMap::new(), slices, counting: false, since, then, tallies, _bell: bell };
        for pid in pids {
            tracer.attach_process(*pid)?;
        }
        tracer.begin(true);
        Ok(tracer)
    }

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
                    Err(_) => {}
                }
                self.name(tid);
            }
        }
    }

    fn is_own(&self, tid: u32) -> bool {
        let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
        field(&status, "TracerPid:").is_some_and(|tracer| tracer == std::process::id() || tracer == own_tid())
    }

    pub(super) fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) && !self.threads.is_empty() {
            if self.is_over() {
                self.end();
                self.begin(!self.counting);
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
        let length = |slices: Slices| if self.counting { slices.counting } else { slices.resting };
        self.slices.is_some_and(|slices| self.since.elapsed() >= length(slices))
    }

    fn begin(&mut self, counting: bool) {
        self.threads.retain(|tid, _| fs::exists(format!("/proc/{tid}")).unwrap_or_default());
        (self.counting, self.since, self.then) = (counting, Instant::now(), self.progress());
        self.tallies.lock().counting_since = counting.then_some(self.since);
        if counting {
            for tid in self.threads.keys() {
                let _ = ptrace::interrupt(*tid);
            }
        }
    }

    fn end(&mut self) {
        let elapsed = self.since.elapsed();
        let (cpu, io_calls) = self.progress().since(&self.then);
        let whole = self.slices.is_some() && self.is_over();
        let mut tallies = self.tallies.lock();
        if tallies.counting_since.take().is_some() {
            tallies.ptrace.counted = tallies.ptrace.counted + elapsed.into();
        }
        if whole {
            tallies.slice(slice(self.counting, elapsed, cpu, io_calls));
        }
    }

    fn progress(&self) -> Progress {
        Progress::of(self.threads.values().map(|thread| (thread.caller.tid, thread.caller.pid)))
    }

    /// Adds the time for which the traced thread was stopped, as far as the tracer can measure it.
    fn handle(&mut self, event: Event) {
        let stopped = Instant::now();
        let (tid, on) = (event.tid, if self.counting { On::ToCall } else { On::Freely });
        let gone = match event.what {
            TraceEvent::Ended => {
                self.threads.remove(&tid);
                return;
            }
            TraceEvent::Call => {
                self.call(tid, stopped);
                ptrace::go(tid, on, 0)
            }
            TraceEvent::Stopped => {
                // This is a new thread, or a new program after exec.
                self.name(tid);
                ptrace::go(tid, on, 0)
            }
            TraceEvent::Signal(signal) => ptrace::go(tid, on, signal),
            TraceEvent::GroupStop => ptrace::listen(tid),
        };
        drop(gone);
        let stopped = stopped.elapsed().into();
        let mut tallies = self.tallies.lock();
        tallies.ptrace.stopped = tallies.ptrace.stopped + stopped;
    }

    fn call(&mut self, tid: u32, at: Instant) {
        let Ok(Some(call)) = ptrace::call(tid) else { return };
        if !self.threads.contains_key(&tid) {
            self.name(tid);
        }
        let thread = self.threads.entry(tid).or_default();
        match call {
            // Does not count calls that start or end in a pause, or that span the end of a slice.
            _ if !self.counting => thread.entered = None,
            Call::Enter { number } => thread.entered = Some((number, Instant::now())),
            Call::Exit { value, failed } => {
                if let Some((number, since)) = thread.entered.take() {
                    let took = at.saturating_duration_since(since);
                    self.tallies.lock().count(tid, number, took, value, failed);
                    if number == RENAMES {
                        self.name(tid);
                    }
                }
            }
        }
    }

    fn name(&mut self, tid: u32) {
        let caller = caller(tid);
        self.tallies.lock().named(&caller);
        self.threads.entry(tid).or_default().caller = caller;
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

fn caller(tid: u32) -> Caller {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let name = |id: u32| read(format!("/proc/{id}/comm")).trim_end().to_owned();
    let pid = field(&read(format!("/proc/{tid}/status")), "Tgid:").unwrap_or(tid);
    Caller { tid, pid, thread: name(tid), process: name(pid) }
}

fn field(status: &str, name: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

fn own_tid() -> u32 {
    let link = fs::read_link("/proc/thread-self").ok();
    link.and_then(|link| link.file_name()?.to_str()?.parse().ok()).unwrap_or_default()
}

fn failed(operation: &str, error: &sys::Error) -> ProbeError {
    ProbeError::Failed { operation: format!("{operation} the tracer thread"), reason: error.to_string() }
}

fn forbidden(pid: u32, tid: u32, error: &sys::Error) -> ProbeError {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    let reason = format!("cannot trace process {pid} with ptrace: {error}");
    let remedy = match field(&status, "TracerPid:") {
        Some(tracer) if tracer != 0 => {
            format!("process {tracer} is already tracing it (strace or a debugger); stop that first")
        }
        _ => "run as root, with CAP_SYS_PTRACE (missing in most containers) and kernel.yama.ptrace_scope below 3"
            .to_owned(),
    };
    ProbeError::Unavailable { reason, remedy }
}

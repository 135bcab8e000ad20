//! Runs the threads of one end of a workload. The first failure or panic stops all threads.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use samples::{ThreadCpu, ThreadRole};
use sys::clock::{monotonic, thread_cpu};
use units::{Bytes, Nanos};
use workload::{Interval, PingPongInterval};

use crate::{
    error::{Error, Result},
    observer::{FlowId, Observer, Progress, progress_interval},
    stop::Stop,
};

#[derive(Debug)]
pub(crate) struct SharedState<'a> {
    stop: &'a Stop,
    failed: AtomicBool,
    created: u64,
    begun: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
    round_trips: AtomicU64,
    gate: Gate,
    events: Sender<WorkerEvent>,
    receiver: Mutex<Option<Receiver<WorkerEvent>>>,
    spare: Mutex<Vec<PingPongInterval>>,
}

#[derive(Debug)]
enum WorkerEvent {
    Ended,
    Interval(FlowId, Interval),
    PingInterval(PingPongInterval),
}

pub(crate) struct Job<'a, T> {
    pub(crate) name: String,
    /// The thread's name, which the kernel truncates to 15 bytes.
    pub(crate) thread: String,
    pub(crate) work: Box<dyn FnOnce() -> Result<T> + Send + 'a>,
}

impl<'a> SharedState<'a> {
    pub(crate) fn new(stop: &'a Stop) -> Self {
        let (events, receiver) = channel();
        Self {
            stop,
            failed: AtomicBool::new(false),
            created: monotonic(),
            begun: AtomicU64::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            round_trips: AtomicU64::new(0),
            gate: Gate::default(),
            events,
            receiver: Mutex::new(Some(receiver)),
            spare: Mutex::default(),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        let ended = self.stop.is_asked() || self.failed.load(Ordering::Relaxed);
        if ended { Err(Error::Stopped) } else { Ok(()) }
    }

    pub(crate) fn ends_early(&self) -> bool {
        self.stop.keeps() && self.stop.is_asked() && !self.failed.load(Ordering::Relaxed)
    }

    /// Treats a stop that preserves the measurement as a regular end.
    pub(crate) fn ended(&self, done: Result<()>) -> Result<()> {
        match done {
            Err(error) if error.is_stopped() && self.ends_early() => Ok(()),
            other => other,
        }
    }

    pub(crate) fn wait_for_start(&self) -> Result<()> {
        self.gate.wait();
        self.check()
    }

    pub(crate) const fn created(&self) -> u64 {
        self.created
    }

    /// Returns the common start time of this end's connections. With many threads on few CPUs, some start much later
    /// than others, so their own start times would give a wrong total rate.
    pub(crate) fn begin(&self, now: u64) -> u64 {
        match self.begun.compare_exchange(0, now, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => now,
            Err(first) => first,
        }
    }

    pub(crate) fn add_received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_round_trips(&self, count: u64) {
        self.round_trips.fetch_add(count, Ordering::Relaxed);
    }

    /// Sends an interval to the watching thread and may wake it. Call this only a few times per second.
    pub(crate) fn send_interval(&self, flow: FlowId, interval: Interval) {
        self.send(WorkerEvent::Interval(flow, interval));
    }

    pub(crate) fn send_ping_interval(&self, interval: PingPongInterval) {
        self.send(WorkerEvent::PingInterval(interval));
    }

    pub(crate) fn spare_ping_interval(&self) -> Option<PingPongInterval> {
        self.spare.try_lock()?.pop()
    }

    #[cfg(test)]
    pub(crate) fn stock(&self) -> usize {
        self.spare.lock().len()
    }

    pub(crate) fn store(&self, mut interval: PingPongInterval) {
        interval.round_trips.clear();
        interval.lost = 0;
        self.spare.lock().push(interval);
    }

    fn send(&self, event: WorkerEvent) {
        let _ = self.events.send(event);
    }

    fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }
}

/// Runs the jobs and returns their results in order. If several fail, returns the first failure, which caused the
/// others.
pub(crate) fn run<'a, T: Send>(
    jobs: Vec<Job<'a, T>>,
    shared: &'a SharedState<'a>,
    observer: &dyn Observer,
) -> Result<Vec<T>> {
    thread::scope(|scope| {
        let receiver = shared.receiver.lock().take();
        let mut threads = Vec::with_capacity(jobs.len());
        let mut failure = None;
        for Job { name, thread, work } in jobs {
            let ending = Ending { shared };
            let body = move || ending.around(work);
            match thread::Builder::new().name(thread).spawn_scoped(scope, body) {
                Ok(thread) => threads.push((name, thread)),
                Err(source) => {
                    failure = Some(Error::Socket { operation: "start a thread for", object: name, source });
                    shared.fail();
                    break;
                }
            }
        }
        observer.started();
        shared.gate.open();
        receiver.iter().for_each(|receiver| watch(receiver, threads.len(), shared, observer));
        let outcome = join(threads);
        observer.ended();
        let outcome = failure.map_or(outcome, Err);
        // Failures after a stop request are consequences of the request.
        outcome.map_err(|error| if shared.stop.is_asked() { Error::Stopped } else { error })
    })
}

pub struct CpuMeter {
    cpu: u64,
    at: u64,
}

impl CpuMeter {
    pub fn from_now() -> Self {
        Self { cpu: thread_cpu(), at: monotonic() }
    }

    pub(crate) fn since(at: u64) -> Self {
        Self { cpu: thread_cpu(), at }
    }

    pub fn until_now(&self, end: &str, role: ThreadRole) -> ThreadCpu {
        ThreadCpu {
            end: end.to_owned(),
            role,
            busy: Nanos(thread_cpu() - self.cpu),
            elapsed: Nanos(monotonic() - self.at),
        }
    }
}

pub fn cpu_of(cpus: Option<&[u32]>, thread: usize) -> Option<u32> {
    cpus.and_then(|cpus| cpus.get(thread % cpus.len().max(1)).copied())
}

struct Ending<'a> {
    shared: &'a SharedState<'a>,
}

impl Ending<'_> {
    fn around<T>(self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let result = work();
        if result.is_err() {
            self.shared.fail();
        }
        result
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.fail();
        }
        self.shared.send(WorkerEvent::Ended);
    }
}

fn watch(
    receiver: &Receiver<WorkerEvent>,
    threads: usize,
    shared: &SharedState<'_>,
    observer: &dyn Observer,
) {
    let (started, interval) = (monotonic(), progress_interval());
    let (mut last, mut running) = (started, threads);
    while running > 0 {
        let since = Duration::from_nanos(monotonic() - last);
        match receiver.recv_timeout(interval.saturating_sub(since)) {
            Ok(WorkerEvent::Ended) => running -= 1,
            Ok(WorkerEvent::Interval(flow, interval)) => observer.interval(flow, &interval),
            Ok(WorkerEvent::PingInterval(interval)) => {
                observer.ping_interval(&interval);
                shared.store(interval);
            }
            Err(RecvTimeoutError::Timeout) => last = progress(started, last, shared, observer),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
    progress(started, last, shared, observer);
}

fn progress(started: u64, last: u64, shared: &SharedState<'_>, observer: &dyn Observer) -> u64 {
    let now = monotonic();
    observer.progress(Progress {
        elapsed: Nanos(now - started),
        covers: Nanos(now - last),
        received: Bytes(shared.received.swap(0, Ordering::Relaxed)),
        sent: Bytes(shared.sent.swap(0, Ordering::Relaxed)),
        round_trips: shared.round_trips.swap(0, Ordering::Relaxed),
    });
    now
}

fn join<T>(threads: Vec<(String, ScopedJoinHandle<'_, Result<T>>)>) -> Result<Vec<T>> {
    let mut created = Vec::with_capacity(threads.len());
    let mut failure: Option<Error> = None;
    for (name, thread) in threads {
        match thread.join().unwrap_or(Err(Error::Panicked { thread: name })) {
            Ok(value) => created.push(value),
            Err(error) if failure.as_ref().is_none_or(Error::is_stopped) => failure = Some(error),
            Err(_) => {}
        }
    }
    failure.map_or(Ok(created), Err)
}

#[derive(Debug, Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        self.opened.wait_while(&mut self.open.lock(), |open| !*open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(shared: &'a SharedState<'a>, work: impl FnOnce() -> Result<u32> + Send + 'a) -> Job<'a, u32> {
        let work = move || {
            shared.wait_for_start()?;
            work()
        };
        Job { name: "test".into(), thread: "test".into(), work: Box::new(work) }
    }

    fn until_stopped(shared: &SharedState<'_>) -> Result<u32> {
        loop {
            shared.check()?;
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn first_failure_ends_other_jobs_and_is_returned() {
        let stop = Stop::new();
        let shared = SharedState::new(&stop);
        let fails = || Err(Error::Setting { setting: "x", value: "y".into(), allowed: "z" });
        let jobs = vec![job(&shared, || until_stopped(&shared)), job(&shared, fails)];
        let error = run(jobs, &shared, &()).expect_err("one fails");
        assert!(matches!(error, Error::Setting { .. }), "{error}");
    }

    #[test]
    fn panic_ends_other_jobs_and_becomes_an_error() {
        let stop = Stop::new();
        let shared = SharedState::new(&stop);
        let jobs = vec![job(&shared, || until_stopped(&shared)), job(&shared, || panic!("a defect"))];
        assert!(matches!(run(jobs, &shared, &()), Err(Error::Panicked { .. })));
    }

    #[test]
    fn returns_results_in_the_order_of_the_jobs() {
        let stop = Stop::new();
        let shared = SharedState::new(&stop);
        let jobs = (0..5).map(|n| job(&shared, move || Ok(n))).collect();
        assert_eq!(run(jobs, &shared, &()).expect("all succeed"), [0, 1, 2, 3, 4]);
    }
}

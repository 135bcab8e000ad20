//! System calls of chosen processes, counted by stopping each thread at each call: where no program can be loaded into the
//! kernel, and somebody asked for it. It is slow, so it rests now and then, and tells how far the processes got with it and
//! without. Must not know the eBPF programs, nor what the processes are for.

mod counts;
mod progress;
mod tracer;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use samples::{ProbeKind, ProbeResults};

use self::{counts::Tallies, tracer::Tracer};
use crate::observe::{Probe, ProbeError, Watch};

/// How long calls are counted at a time, and how long nobody looks then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    /// Counting.
    pub looking: Duration,
    pub resting: Duration,
}

impl Default for Slices {
    /// Long for the beginning of a slice, in which every thread is stopped once.
    fn default() -> Self {
        Self { looking: Duration::from_millis(400), resting: Duration::from_millis(200) }
    }
}

/// Ready to stop processes; without slices it looks all the time, and cannot tell what it costs.
#[must_use]
pub fn ptrace_counter(slices: Option<Slices>) -> Box<dyn Probe> {
    Box::new(PtraceCounter { slices, seen: Arc::default(), tracer: None })
}

/// The probe.
struct PtraceCounter {
    slices: Option<Slices>,
    seen: Arc<Mutex<Tallies>>,
    tracer: Option<Running>,
}

/// A thread of its own: the kernel lets go of what it watches when it ends.
struct Running {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Probe for PtraceCounter {
    fn kind(&self) -> ProbeKind {
        ProbeKind::Syscalls
    }

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError> {
        self.stop();
        let watched = watch.subjects.iter().filter(|subject| subject.syscalls);
        let pids: Vec<u32> = watched.flat_map(|subject| subject.pids.iter().copied()).collect();
        *lock(&self.seen) = Tallies::default();
        let (stop, seen, slices) = (Arc::new(AtomicBool::new(false)), Arc::clone(&self.seen), self.slices);
        let (tell, told) = sync_channel(1);
        let asked = Arc::clone(&stop);
        let work = move || match Tracer::attach(&pids, slices, seen) {
            Ok(tracer) => {
                // Nobody listens any more where the start was given up.
                let _ = tell.send(Ok(()));
                tracer.run(&asked);
            }
            Err(error) => drop(tell.send(Err(error))),
        };
        let failed = |because: String| ProbeError::Failed {
            operation: "start a thread to watch from".into(),
            because,
        };
        let thread = thread::Builder::new().name("ptrace".into()).spawn(work);
        let thread = thread.map_err(|error| failed(error.to_string()))?;
        let started = told.recv().unwrap_or_else(|_| Err(failed("it ended".into())));
        match started {
            Ok(()) => self.tracer = Some(Running { stop, thread }),
            Err(_) => drop(thread.join()),
        }
        started
    }

    fn read(&mut self, seen: &mut ProbeResults) -> Result<(), ProbeError> {
        lock(&self.seen).tell(seen);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(running) = self.tracer.take() {
            running.stop.store(true, Ordering::Relaxed);
            // Its panic, if it had one, has been told already.
            let _ = running.thread.join();
        }
    }
}

impl Drop for PtraceCounter {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock(seen: &Mutex<Tallies>) -> MutexGuard<'_, Tallies> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Counts system calls on machines without eBPF by stopping every thread at each call. Because stopping is slow, the
//! counter pauses regularly and reports the progress of the processes with and without tracing.

mod counts;
mod progress;
mod tracer;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;
use samples::{ProbeKind, ProbeResults};

use self::{counts::Tallies, tracer::Tracer};
use crate::observe::{Probe, ProbeError, Watch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    pub counting: Duration,
    pub resting: Duration,
}

impl Default for Slices {
    /// Slices are long, because starting one stops every thread once.
    fn default() -> Self {
        Self { counting: Duration::from_millis(400), resting: Duration::from_millis(200) }
    }
}

/// Without slices, the counter never pauses and cannot measure its own overhead.
#[must_use]
pub fn ptrace_counter(slices: Option<Slices>) -> Box<dyn Probe> {
    Box::new(PtraceCounter { slices, tallies: Arc::default(), tracer: None })
}

struct PtraceCounter {
    slices: Option<Slices>,
    tallies: Arc<Mutex<Tallies>>,
    tracer: Option<Running>,
}

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
        *self.tallies.lock() = Tallies::default();
        let (stop, tallies, slices) =
            (Arc::new(AtomicBool::new(false)), Arc::clone(&self.tallies), self.slices);
        let (report, outcome) = sync_channel(1);
        let stop_requested = Arc::clone(&stop);
        let work = move || match Tracer::attach(&pids, slices, tallies) {
            Ok(tracer) => {
                let _ = report.send(Ok(()));
                tracer.run(&stop_requested);
            }
            Err(error) => drop(report.send(Err(error))),
        };
        let failed =
            |reason: String| ProbeError::Failed { operation: "start the tracer thread".into(), reason };
        let thread = thread::Builder::new().name("ptrace".into()).spawn(work);
        let thread = thread.map_err(|error| failed(error.to_string()))?;
        let started = outcome.recv().unwrap_or_else(|_| Err(failed("it ended".into())));
        match started {
            Ok(()) => self.tracer = Some(Running { stop, thread }),
            Err(_) => drop(thread.join()),
        }
        started
    }

    fn read(&mut self, results: &mut ProbeResults) -> Result<(), ProbeError> {
        self.tallies.lock().add_to(results);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(running) = self.tracer.take() {
            running.stop.store(true, Ordering::Relaxed);
            let _ = running.thread.join();
        }
    }
}

impl Drop for PtraceCounter {
    fn drop(&mut self) {
        self.stop();
    }
}

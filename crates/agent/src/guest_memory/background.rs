//! Background threads: one detects stalls, the other makes the kernel compact memory.

use std::{
    fs::{self, File},
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use sys::clock::monotonic;
use units::Nanos;

use crate::refusal::Refusal;

const COMPACT: &str = "/proc/sys/vm/compact_memory";
/// This is shorter than a noticeable stall, but longer than the time between VM exits while memory moves.
const NAP: Duration = Duration::from_millis(4);

#[derive(Default)]
pub(super) struct Background(Arc<AtomicBool>);

impl Background {
    pub(super) fn detect_stalls(&self) -> Result<JoinHandle<Nanos>, Refusal> {
        let ended = Arc::clone(&self.0);
        let body = move || {
            let mut longest = 0;
            while !ended.load(Ordering::Relaxed) {
                let before = monotonic();
                thread::sleep(NAP);
                longest = longest.max((monotonic() - before).saturating_sub(Nanos::from(NAP).0));
            }
            Nanos(longest)
        };
        let sleeper = thread::Builder::new().name("stalls".into()).spawn(body);
        sleeper.map_err(|error| Refusal::new(format!("cannot detect stalls: {error}")))
    }

    /// Compacts memory in the background, because a pass takes seconds in an emulated guest. Source:
    /// admin-guide/sysctl/vm.rst in Linux's documentation.
    pub(super) fn compact(&self) -> Result<(), Refusal> {
        let refused = |error: io::Error| Refusal::new(format!("cannot compact memory by {COMPACT}: {error}"));
        let _ = File::options().write(true).open(COMPACT).map_err(refused)?;
        let ended = Arc::clone(&self.0);
        let body = move || {
            while !ended.load(Ordering::Relaxed) {
                let _ = fs::write(COMPACT, "1");
                thread::sleep(NAP);
            }
        };
        thread::Builder::new().name("compaction".into()).spawn(body).map(drop).map_err(refused)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

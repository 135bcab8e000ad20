//! Samples the memory of VMs at regular intervals, without moving it.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{
    attached::{AttachedVms, Seen, look_at_all, wait},
    running::GuestMemory,
    sample::MemorySample,
};

/// Extra time for the first report of memory accesses. DAMON needs 4 s, or longer on a busy machine.
const FIRST_REPORTS: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Sampler {
    /// Attaching already took the first sample. Later access counts are relative to it.
    pub vms: AttachedVms,
    pub interval: Duration,
    /// If the first report of memory accesses arrives in time, the sample is taken after it.
    pub once: bool,
}

impl Sampler {
    pub fn run<E>(
        mut self,
        stop: &AtomicBool,
        mut report: impl FnMut(&Seen, &MemorySample) -> Result<(), E>,
    ) -> Result<(), E> {
        let first_reports = Instant::now() + self.interval + FIRST_REPORTS;
        while !stop.load(Ordering::Relaxed) {
            wait(Instant::now() + self.interval, stop);
            let seen = look_at_all(&mut self.vms, self.interval);
            let awaited = seen.values().flatten().any(GuestMemory::awaits_accesses);
            if self.once && awaited && Instant::now() < first_reports {
                continue;
            }
            report(&seen, &MemorySample::new(&seen, &self.vms, self.interval, &[]))?;
            if self.once {
                break;
            }
        }
        Ok(())
    }
}

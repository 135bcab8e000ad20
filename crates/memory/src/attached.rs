//! Connections to running virtual machines, to sample or move their memory.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use policy::{Observation, Tiers};
use units::Bytes;
use workload::BalloonMethod;

use crate::{
    error::MemoryError,
    running::{GuestMemory, RunningVm, VmAccess},
};

/// Statistics older than this many intervals are ignored.
const STALE: u32 = 3;
const GLANCE: Duration = Duration::from_millis(100);

pub type AttachedVms = BTreeMap<String, AttachedVm>;

pub type Seen = BTreeMap<String, Result<GuestMemory, MemoryError>>;

#[derive(Debug)]
pub struct AttachedVm {
    access: VmAccess,
    vm: Option<RunningVm>,
    has: Tiers,
    whole: Bytes,
    method: BalloonMethod,
    /// Whether needs are derived from accesses instead of memory in use.
    by_accesses: bool,
}

impl AttachedVm {
    pub fn open(access: VmAccess, by_accesses: bool, interval: Duration) -> Result<Self, MemoryError> {
        let vm = RunningVm::open(&access, interval)?;
        Self::of(vm, access, by_accesses, interval)
    }

    pub fn of(
        mut vm: RunningVm,
        access: VmAccess,
        by_accesses: bool,
        interval: Duration,
    ) -> Result<Self, MemoryError> {
        let seen = vm.look(interval * STALE)?;
        Ok(Self {
            access,
            has: tiers(&seen),
            whole: vm.whole()?,
            method: vm.method(),
            vm: Some(vm),
            by_accesses,
        })
    }

    #[must_use]
    pub fn whole(&self) -> Bytes {
        self.whole
    }

    #[must_use]
    pub fn has(&self) -> Tiers {
        self.has
    }

    #[must_use]
    pub fn method(&self) -> BalloonMethod {
        self.method
    }

    pub(crate) fn observation(&self, name: &str, seen: &Seen) -> Observation {
        observation(name, self.has, seen, self.by_accesses)
    }

    pub fn look(&mut self, interval: Duration) -> Result<GuestMemory, MemoryError> {
        let mut vm = match self.vm.take() {
            Some(vm) => vm,
            None => RunningVm::open(&self.access, interval)?,
        };
        let seen = vm.look(interval * STALE)?;
        self.has = tiers(&seen);
        self.vm = Some(vm);
        Ok(seen)
    }

    pub(crate) fn sizes(&mut self) -> Result<Tiers, MemoryError> {
        if let Some(vm) = &mut self.vm {
            let (fast, slow) = vm.sizes()?;
            self.has = Tiers { fast, slow };
        }
        Ok(self.has)
    }

    pub fn resize(&mut self, fast: Bytes) -> Result<(), MemoryError> {
        self.vm.as_mut().map_or(Ok(()), |vm| vm.resize(fast))
    }
}

pub(crate) fn observation(name: &str, has: Tiers, seen: &Seen, by_accesses: bool) -> Observation {
    let guest = seen[name].as_ref().ok().and_then(|memory| memory.report(by_accesses));
    Observation { vm: name.to_owned(), has, guest }
}

/// Queries all machines concurrently, so that a silent agent does not delay the others.
pub(crate) fn look_at_all(vms: &mut AttachedVms, interval: Duration) -> Seen {
    let failed = |_| Err(MemoryError::Guest("internal error; please report this".to_owned()));
    thread::scope(|scope| {
        let look = |vm| scope.spawn(move || AttachedVm::look(vm, interval));
        let looks: Vec<_> = vms.iter_mut().map(|(name, vm)| (name.clone(), look(vm))).collect();
        looks.into_iter().map(|(name, look)| (name, look.join().unwrap_or_else(failed))).collect()
    })
}

fn tiers(seen: &GuestMemory) -> Tiers {
    Tiers { fast: seen.size, slow: seen.slow }
}

pub(crate) fn wait(until: Instant, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) && Instant::now() < until {
        thread::sleep(GLANCE.min(until.saturating_duration_since(Instant::now())));
    }
}

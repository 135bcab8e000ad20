//! Rounds of the rebalancer over running virtual machines. The decisions are made by `policy`.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use policy::{Decision, GuestReport, HeatClass, Move, Observation, Rebalancer, Tiers};
use protocol::AccessClass;
use units::{Bytes, Share};
use workload::BalloonMethod;

use crate::{
    error::MemoryError,
    running::{GuestMemory, RunningVm, VmAccess},
};

const STALE: u32 = 3;
/// A quarter of the interval, because released memory is given to other machines within the same interval.
const PATIENCE: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Rebalance {
    rebalancer: Rebalancer,
    vms: BTreeMap<String, AttachedVm>,
    interval: Duration,
}

#[derive(Debug)]
pub struct AttachedVm {
    access: VmAccess,
    vm: Option<RunningVm>,
    has: Tiers,
    /// If set, unaccessed memory requires a slow tier.
    by_accesses: bool,
}

#[derive(Debug)]
pub struct Round {
    pub seen: BTreeMap<String, Result<GuestMemory, MemoryError>>,
    pub decision: Decision,
    pub failed: Vec<(Move, MemoryError)>,
}

impl AttachedVm {
    /// With `by_accesses`, needs are derived from accesses, otherwise from memory in use.
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
        Ok(Self { access, has: tiers(&seen), vm: Some(vm), by_accesses })
    }

    pub fn whole(&mut self) -> Result<Bytes, MemoryError> {
        self.vm.as_mut().map_or(Ok(self.has.fast), RunningVm::whole)
    }

    #[must_use]
    pub fn has(&self) -> Tiers {
        self.has
    }

    #[must_use]
    pub fn method(&self) -> Option<BalloonMethod> {
        self.vm.as_ref().map(RunningVm::method)
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

    fn sizes(&mut self) -> Result<Tiers, MemoryError> {
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

/// Returns `None` if there is no data from the guest.
#[must_use]
pub fn guest_report(memory: &GuestMemory, by_accesses: bool) -> Option<GuestReport> {
    let class = |class: &AccessClass| HeatClass { bytes: class.bytes, accesses: class.accesses as f64 };
    let accesses: Vec<HeatClass> = memory.classes().map(class).collect();
    let known = by_accesses && !accesses.is_empty();
    Some(GuestReport {
        available: Some(memory.available?),
        psi: memory.psi,
        refaults: memory.refaults,
        accesses: known.then_some(accesses),
        dram_hits: memory.dram_hits().filter(|_| known).map(|Share(hits)| Share(hits.clamp(0.0, 1.0))),
        idle: known.then(|| memory.idle()),
    })
}

/// Queries all machines concurrently, so that a silent agent does not delay the others.
pub fn look_at_all(
    vms: &mut BTreeMap<String, AttachedVm>,
    interval: Duration,
) -> BTreeMap<String, Result<GuestMemory, MemoryError>> {
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

impl Rebalance {
    #[must_use]
    pub fn new(rebalancer: Rebalancer, vms: BTreeMap<String, AttachedVm>, interval: Duration) -> Self {
        Self { rebalancer, vms, interval }
    }

    #[must_use]
    pub fn rebalancer(&self) -> &Rebalancer {
        &self.rebalancer
    }

    #[must_use]
    pub fn into_vms(self) -> BTreeMap<String, AttachedVm> {
        self.vms
    }

    /// With `dry`, no memory is moved. Machines that are silent remain unchanged, and their memory stays
    /// reserved.
    pub fn round(&mut self, dry: bool) -> Round {
        let seen = look_at_all(&mut self.vms, self.interval);
        let observations: Vec<Observation> = self
            .vms
            .iter()
            .map(|(name, vm)| Observation {
                vm: name.clone(),
                has: vm.has,
                guest: seen[name].as_ref().ok().and_then(|seen| guest_report(seen, vm.by_accesses)),
            })
            .collect();
        let mut decision = self.rebalancer.decide(&observations);
        if dry {
            self.rebalancer.withdraw(&decision.moves);
            return Round { seen, decision, failed: Vec::new() };
        }
        let mut failed = self.order(&decision.moves);
        let handed_out = self.hand_out(observations, &decision, &failed);
        failed.extend(self.order(&handed_out));
        decision.moves.extend(handed_out);
        Round { seen, decision, failed }
    }

    fn hand_out(
        &mut self,
        mut observations: Vec<Observation>,
        decision: &Decision,
        failed: &[(Move, MemoryError)],
    ) -> Vec<Move> {
        let ordered = |made: &&Move| failed.iter().all(|(failed, _)| failed.vm != made.vm);
        let squeezes = decision.moves.iter().filter(|made| made.to.fast < made.from.fast).filter(ordered);
        let squeezes: Vec<&Move> = squeezes.collect();
        if squeezes.is_empty() {
            return Vec::new();
        }
        let end = Instant::now() + PATIENCE.min(self.interval / 4);
        while !self.have_come(&squeezes, &mut observations) && Instant::now() < end {
            thread::sleep(GLANCE);
        }
        self.rebalancer.hand_out(&observations, decision)
    }

    fn have_come(&mut self, squeezes: &[&Move], observations: &mut [Observation]) -> bool {
        let mut all = true;
        for squeeze in squeezes {
            let has = self.vms.get_mut(&squeeze.vm).and_then(|vm| vm.sizes().ok());
            let seen = observations.iter_mut().find(|seen| seen.vm == squeeze.vm);
            if let (Some(has), Some(seen)) = (has, seen) {
                seen.has = has;
                all &= has.fast <= squeeze.to.fast;
            }
        }
        all
    }

    fn order(&mut self, moves: &[Move]) -> Vec<(Move, MemoryError)> {
        let mut failed = Vec::new();
        for made in moves {
            let Some(vm) = self.vms.get_mut(&made.vm) else { continue };
            if let Err(error) = vm.resize(made.to.fast) {
                self.rebalancer.withdraw(std::slice::from_ref(made));
                failed.push((made.clone(), error));
            }
        }
        failed
    }
}

//! Rounds of the rebalancer over virtual machines that run: look, decide, move. What it decides is `policy`'s.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use policy::{Decision, GuestReport, Move, Observation, Rebalancer, Tiers};
use units::Bytes;

use crate::{
    error::MemoryError,
    running::{GuestMemory, RunningVm},
};

/// A guest that has told nothing for so many intervals does not answer.
const STALE: u32 = 3;

/// Virtual machines whose memory is rebalanced.
#[derive(Debug)]
pub struct Rebalance {
    rebalancer: Rebalancer,
    vms: BTreeMap<String, AttachedVm>,
    interval: Duration,
}

/// One of them.
#[derive(Debug)]
pub struct AttachedVm {
    at: PathBuf,
    /// `None` while its monitor cannot be reached.
    vm: Option<RunningVm>,
    /// What it had when it was last seen.
    size: Bytes,
}

/// What came of a round.
#[derive(Debug)]
pub struct Round {
    /// Each machine's memory, or why it could not be seen.
    pub seen: BTreeMap<String, Result<GuestMemory, MemoryError>>,
    pub decision: Decision,
    /// Moves that were not ordered, and why.
    pub failed: Vec<(Move, MemoryError)>,
}

impl AttachedVm {
    /// Becomes the client of the monitor at this socket.
    ///
    /// # Errors
    /// As [`RunningVm::open`].
    pub fn open(at: &Path, interval: Duration) -> Result<Self, MemoryError> {
        let mut vm = RunningVm::open(at, interval)?;
        let size = vm.look(interval * STALE)?.size;
        Ok(Self { at: at.to_owned(), vm: Some(vm), size })
    }

    /// All that it was started with.
    ///
    /// # Errors
    /// When QEMU does not answer.
    pub fn whole(&mut self) -> Result<Bytes, MemoryError> {
        self.vm.as_mut().map_or(Ok(self.size), RunningVm::whole)
    }

    /// What it had when it was last seen.
    #[must_use]
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// One whose monitor was lost is looked for anew: its machine may have been started again.
    fn look(&mut self, interval: Duration) -> Result<GuestMemory, MemoryError> {
        let mut vm = match self.vm.take() {
            Some(vm) => vm,
            None => RunningVm::open(&self.at, interval)?,
        };
        let seen = vm.look(interval * STALE)?;
        self.size = seen.size;
        self.vm = Some(vm);
        Ok(seen)
    }

    fn resize(&mut self, size: Bytes) -> Result<(), MemoryError> {
        self.vm.as_mut().map_or(Ok(()), |vm| vm.resize(size))
    }
}

impl Rebalance {
    #[must_use]
    pub fn new(rebalancer: Rebalancer, vms: BTreeMap<String, AttachedVm>, interval: Duration) -> Self {
        Self { rebalancer, vms, interval }
    }

    /// What a later one goes on from.
    #[must_use]
    pub fn rebalancer(&self) -> &Rebalancer {
        &self.rebalancer
    }

    /// Looks at every machine, decides, and orders the moves unless it is a `dry` run. A machine that does not answer is left
    /// alone, and its share is held.
    pub fn round(&mut self, dry: bool) -> Round {
        let interval = self.interval;
        let seen: BTreeMap<String, Result<GuestMemory, MemoryError>> =
            self.vms.iter_mut().map(|(name, vm)| (name.clone(), vm.look(interval))).collect();
        let observations: Vec<Observation> = self
            .vms
            .iter()
            .map(|(name, vm)| Observation {
                vm: name.clone(),
                has: Tiers { fast: vm.size, slow: Bytes(0) },
                guest: seen[name].as_ref().ok().and_then(report),
            })
            .collect();
        let decision = self.rebalancer.decide(&observations);
        let failed = if dry {
            self.rebalancer.withdraw(&decision.moves);
            Vec::new()
        } else {
            self.order(&decision.moves)
        };
        Round { seen, decision, failed }
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

/// What the policy goes by; `None` of a guest that tells nothing.
fn report(memory: &GuestMemory) -> Option<GuestReport> {
    let available = Some(memory.available?);
    Some(GuestReport { available, refaults: memory.refaults, ..GuestReport::default() })
}

//! Rebalances running virtual machines in rounds. `policy` makes the decisions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use policy::{Decision, Move, Observation, Rebalancer, State};

use crate::{
    attached::{AttachedVms, Seen, look_at_all, wait},
    config::{ConfigError, VmsConfig, extents},
    error::MemoryError,
    sample::MemorySample,
};

/// Released memory goes to other machines within the same interval. A round waits this long for the release, but at
/// most a quarter of the interval.
const PATIENCE: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub struct Rebalance {
    rebalancer: Rebalancer,
    vms: AttachedVms,
    interval: Duration,
}

#[derive(Debug)]
pub struct Round {
    pub seen: Seen,
    pub decision: Decision,
    pub failed: Vec<(Move, MemoryError)>,
}

#[derive(Debug, Default)]
pub struct Rounds {
    pub dry: bool,
    pub most: Option<u64>,
    pub stop: Arc<AtomicBool>,
}

impl Rebalance {
    #[must_use]
    pub fn new(rebalancer: Rebalancer, vms: AttachedVms, interval: Duration) -> Self {
        Self { rebalancer, vms, interval }
    }

    pub fn resume(config: &VmsConfig, vms: AttachedVms, state: State) -> Result<Self, ConfigError> {
        let settings = config.settings(&extents(&vms))?;
        Ok(Self::new(Rebalancer::resume(settings, state)?, vms, config.interval()))
    }

    pub fn run<E>(
        &mut self,
        rounds: &Rounds,
        mut report: impl FnMut(&Self, &Round) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut finished = 0;
        while !rounds.stop.load(Ordering::Relaxed) {
            let next = Instant::now() + self.interval;
            let round = self.round(rounds.dry);
            report(self, &round)?;
            finished += 1;
            if rounds.most == Some(finished) {
                break;
            }
            wait(next, &rounds.stop);
        }
        Ok(finished)
    }

    #[must_use]
    pub fn sample(&self, round: &Round, dry: bool) -> MemorySample {
        let moves = if dry { &[][..] } else { &round.decision.moves };
        MemorySample::new(&round.seen, &self.vms, self.interval, moves)
    }

    #[must_use]
    pub fn rebalancer(&self) -> &Rebalancer {
        &self.rebalancer
    }

    #[must_use]
    pub fn into_vms(self) -> AttachedVms {
        self.vms
    }

    /// If `dry` is set, no memory is moved. Silent machines remain unchanged, and their memory stays reserved.
    pub fn round(&mut self, dry: bool) -> Round {
        let seen = look_at_all(&mut self.vms, self.interval);
        let observations: Vec<_> = self.vms.iter().map(|(name, vm)| vm.observation(name, &seen)).collect();
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

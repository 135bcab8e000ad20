//! Shuffles the trials within each block. Simultaneous trials stay together.

use rand::{
    SeedableRng,
    seq::{IndexedRandom, SliceRandom},
};
use rand_pcg::Pcg64;
use samples::{Arm, ProbeKind};

use crate::{
    plan::{Plan, PlannedResult, PlannedTrial},
    probes::Probes,
};

/// Each block also measures at least this many of the simultaneous results individually.
const MIN_INDIVIDUAL: usize = 3;
const ROUNDS_PER_INDIVIDUAL: usize = 10;

type Group = (Vec<usize>, Arm);

/// A block has one trial per result and two per baseline, and the first blocks also have probed trials.
pub(crate) fn trials(
    results: &[PlannedResult],
    rounds: &[Vec<usize>],
    blocks: u32,
    probes: &Probes,
    seed: u64,
) -> Vec<PlannedTrial> {
    let mut random = Pcg64::seed_from_u64(seed);
    let one_block = one_block(results, rounds);
    let supported = (0..results.len()).filter(|&result| is_supported(&results[result], &probes.kinds));
    let probed: Vec<Group> = supported.map(|result| (vec![result], Arm::Probed)).collect();
    let simultaneous: Vec<usize> = rounds.iter().filter(|round| round.len() > 1).flatten().copied().collect();
    let individual = rounds.len().div_ceil(ROUNDS_PER_INDIVIDUAL).max(MIN_INDIVIDUAL);
    let mut trials = Vec::new();
    for block in 0..blocks {
        let mut order = one_block.clone();
        if block < probes.blocks(blocks) {
            order.extend_from_slice(&probed);
        }
        let sample = simultaneous.sample(&mut random, individual);
        order.extend(sample.map(|result| (vec![*result], Arm::Alone)));
        order.shuffle(&mut random);
        for (number, (group, arm)) in (0..).zip(order) {
            let round = (group.len() > 1).then_some(number);
            let first = trials.len() as u32;
            trials.extend((first..).zip(group).map(|(index, result)| PlannedTrial {
                index,
                block,
                result,
                arm,
                round,
            }));
        }
    }
    trials
}

fn one_block(results: &[PlannedResult], rounds: &[Vec<usize>]) -> Vec<Group> {
    let mut round_of: Vec<Option<&Vec<usize>>> = vec![None; results.len()];
    for (round, result) in rounds.iter().flat_map(|round| round.iter().map(move |result| (round, *result))) {
        round_of[result] = Some(round);
    }
    let is_first = |result: &usize| round_of[*result].is_none_or(|round| round[0] == *result);
    let group = |result: usize| round_of[result].cloned().unwrap_or_else(|| vec![result]);
    let measured = (0..results.len()).filter(is_first).map(|result| (group(result), Arm::Measure));
    let baselines = (0..results.len()).filter(|&result| results[result].baseline);
    measured.chain(baselines.map(|result| (group(result), Arm::Again))).collect()
}

impl Plan {
    #[must_use]
    pub fn limited_to(&self, probes: &[ProbeKind]) -> Self {
        let probes: Vec<ProbeKind> =
            self.probes.iter().copied().filter(|kind| probes.contains(kind)).collect();
        let is_included = |trial: &&PlannedTrial| {
            trial.arm != Arm::Probed || is_supported(&self.results[trial.result], &probes)
        };
        let included = self.trials.iter().filter(is_included);
        let trials =
            (0..).zip(included).map(|(index, trial)| PlannedTrial { index, ..trial.clone() }).collect();
        Self { trials, probes, ..self.clone() }
    }
}

fn is_supported(result: &PlannedResult, probes: &[ProbeKind]) -> bool {
    probes.iter().any(|kind| kind.sees(&result.load))
}

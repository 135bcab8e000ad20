//! Shuffles trials in blocks with each result. Simultaneous trials stay together.

use rand::{
    SeedableRng,
    seq::{IndexedRandom, SliceRandom},
};
use rand_pcg::Pcg64;
use samples::{Arm, ProbeKind};

use crate::{
    plan::{Cell, Plan, PlannedTrial},
    probes::Probes,
};

/// Minimum number of simultaneous results that are also measured individually in each block.
const MIN_INDIVIDUAL: usize = 3;
const ROUNDS_PER_INDIVIDUAL: usize = 10;

type Group = (Vec<usize>, Arm);

/// One trial per result and two per baseline, shuffled per block. The first blocks also have probed trials. A sample of
/// simultaneous results is also measured individually.
pub(crate) fn trials(
    cells: &[Cell],
    rounds: &[Vec<usize>],
    blocks: u32,
    probes: &Probes,
    seed: u64,
) -> Vec<PlannedTrial> {
    let mut random = Pcg64::seed_from_u64(seed);
    let one_block = one_block(cells, rounds);
    let supported = (0..cells.len()).filter(|&cell| is_supported(&cells[cell], &probes.kinds));
    let probed: Vec<Group> = supported.map(|cell| (vec![cell], Arm::Probed)).collect();
    let simultaneous: Vec<usize> = rounds.iter().filter(|round| round.len() > 1).flatten().copied().collect();
    let individual = rounds.len().div_ceil(ROUNDS_PER_INDIVIDUAL).max(MIN_INDIVIDUAL);
    let mut trials = Vec::new();
    for block in 0..blocks {
        let mut order = one_block.clone();
        if block < probes.blocks(blocks) {
            order.extend_from_slice(&probed);
        }
        let sample = simultaneous.sample(&mut random, individual);
        order.extend(sample.map(|cell| (vec![*cell], Arm::Alone)));
        order.shuffle(&mut random);
        for (number, (group, arm)) in (0..).zip(order) {
            let round = (group.len() > 1).then_some(number);
            let first = trials.len() as u32;
            trials.extend((first..).zip(group).map(|(index, cell)| PlannedTrial {
                index,
                block,
                cell,
                arm,
                round,
            }));
        }
    }
    trials
}

/// A round that contains a baseline has a second entry.
fn one_block(cells: &[Cell], rounds: &[Vec<usize>]) -> Vec<Group> {
    let mut round_of: Vec<Option<&Vec<usize>>> = vec![None; cells.len()];
    for (round, cell) in rounds.iter().flat_map(|round| round.iter().map(move |cell| (round, *cell))) {
        round_of[cell] = Some(round);
    }
    let is_first = |cell: &usize| round_of[*cell].is_none_or(|round| round[0] == *cell);
    let group = |cell: usize| round_of[cell].cloned().unwrap_or_else(|| vec![cell]);
    let measured = (0..cells.len()).filter(is_first).map(|cell| (group(cell), Arm::Measure));
    let baselines = (0..cells.len()).filter(|&cell| cells[cell].baseline);
    measured.chain(baselines.map(|cell| (group(cell), Arm::Again))).collect()
}

impl Plan {
    #[must_use]
    pub fn limited_to(&self, probes: &[ProbeKind]) -> Self {
        let probes: Vec<ProbeKind> =
            self.probes.iter().copied().filter(|kind| probes.contains(kind)).collect();
        let is_included = |trial: &&PlannedTrial| {
            trial.arm != Arm::Probed || is_supported(&self.cells[trial.cell], &probes)
        };
        let included = self.trials.iter().filter(is_included);
        let trials =
            (0..).zip(included).map(|(index, trial)| PlannedTrial { index, ..trial.clone() }).collect();
        Self { trials, probes, ..self.clone() }
    }
}

fn is_supported(cell: &Cell, probes: &[ProbeKind]) -> bool {
    probes.iter().any(|kind| kind.sees(&cell.load))
}

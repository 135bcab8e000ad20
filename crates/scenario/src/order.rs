//! The order of trials: blocks in which every cell occurs, shuffled by the seed alone. Cells that are measured at the same time
//! are shuffled as one. Must not know what a cell is.

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

/// In each block at least so many cells that have others beside them are measured alone, too, ...
const FEWEST_ALONE: usize = 3;
/// ... and one for so many rounds.
const ROUNDS_FOR_ONE_ALONE: usize = 10;

/// Cells that are measured at the same time, each by its place, and why.
type Together = (Vec<usize>, Arm);

/// Blocks in which every cell occurs once, each baseline once more, and in the first of them whatever a probe sees
/// once with the probes on; each in an order of its own. The cells of each of `rounds` are measured at the same time, some of
/// them alone, too, and a baseline once more with those that are beside it.
pub(crate) fn trials(
    cells: &[Cell],
    rounds: &[Vec<usize>],
    blocks: u32,
    probes: &Probes,
    seed: u64,
) -> Vec<PlannedTrial> {
    let mut random = Pcg64::seed_from_u64(seed);
    let once = once(cells, rounds);
    let seen = (0..cells.len()).filter(|&cell| is_seen(&cells[cell], &probes.kinds));
    let probed: Vec<Together> = seen.map(|cell| (vec![cell], Arm::Probed)).collect();
    let accompanied: Vec<usize> = rounds.iter().filter(|round| round.len() > 1).flatten().copied().collect();
    let alone = rounds.len().div_ceil(ROUNDS_FOR_ONE_ALONE).max(FEWEST_ALONE);
    let mut trials = Vec::new();
    for block in 0..blocks {
        let mut order = once.clone();
        if block < probes.blocks(blocks) {
            order.extend_from_slice(&probed);
        }
        let sample = accompanied.sample(&mut random, alone);
        order.extend(sample.map(|cell| (vec![*cell], Arm::Alone)));
        order.shuffle(&mut random);
        for (number, (together, arm)) in (0..).zip(order) {
            let round = (together.len() > 1).then_some(number);
            let first = trials.len() as u32;
            trials.extend((first..).zip(together).map(|(index, cell)| PlannedTrial {
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

/// Every cell, with those of its round, and once more where a baseline is among them.
fn once(cells: &[Cell], rounds: &[Vec<usize>]) -> Vec<Together> {
    let mut round_of: Vec<Option<&Vec<usize>>> = vec![None; cells.len()];
    for (round, cell) in rounds.iter().flat_map(|round| round.iter().map(move |cell| (round, *cell))) {
        round_of[cell] = Some(round);
    }
    let is_first = |cell: &usize| round_of[*cell].is_none_or(|round| round[0] == *cell);
    let together = |cell: usize| round_of[cell].cloned().unwrap_or_else(|| vec![cell]);
    let measured = (0..cells.len()).filter(is_first).map(|cell| (together(cell), Arm::Measure));
    let baselines = (0..cells.len()).filter(|&cell| cells[cell].baseline);
    measured.chain(baselines.map(|cell| (together(cell), Arm::Again))).collect()
}

impl Plan {
    /// The same with no other probes than these, without the trials in which none of them sees anything. All others
    /// keep their order.
    #[must_use]
    pub fn limited_to(&self, probes: &[ProbeKind]) -> Self {
        let probes: Vec<ProbeKind> =
            self.probes.iter().copied().filter(|kind| probes.contains(kind)).collect();
        let stays =
            |trial: &&PlannedTrial| trial.arm != Arm::Probed || is_seen(&self.cells[trial.cell], &probes);
        let stay = self.trials.iter().filter(stays);
        let trials = (0..).zip(stay).map(|(index, trial)| PlannedTrial { index, ..trial.clone() }).collect();
        Self { trials, probes, ..self.clone() }
    }
}

fn is_seen(cell: &Cell, probes: &[ProbeKind]) -> bool {
    probes.iter().any(|kind| kind.sees(&cell.load))
}

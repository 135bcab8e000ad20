//! The order of trials: blocks in which every cell occurs, shuffled by the seed alone. Must not know what a cell is.

use rand::{SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64;
use samples::{Arm, ProbeKind};

use crate::{
    plan::{Cell, Plan, PlannedTrial},
    probes::Probes,
};

/// Blocks in which every cell occurs once, each baseline once more, and in the first of them whatever a probe sees
/// once with the probes on; each in an order of its own.
pub(crate) fn trials(cells: &[Cell], blocks: u32, probes: &Probes, seed: u64) -> Vec<PlannedTrial> {
    let mut random = Pcg64::seed_from_u64(seed);
    let measured = (0..cells.len()).map(|cell| (cell, Arm::Measure));
    let again = (0..cells.len()).filter(|&cell| cells[cell].baseline).map(|cell| (cell, Arm::Again));
    let once: Vec<(usize, Arm)> = measured.chain(again).collect();
    let seen = (0..cells.len()).filter(|&cell| is_seen(&cells[cell], &probes.kinds));
    let probed: Vec<(usize, Arm)> = seen.map(|cell| (cell, Arm::Probed)).collect();
    let mut trials = Vec::new();
    for block in 0..blocks {
        let mut order = once.clone();
        if block < probes.blocks(blocks) {
            order.extend(&probed);
        }
        order.shuffle(&mut random);
        for (index, (cell, arm)) in (trials.len() as u32..).zip(order) {
            trials.push(PlannedTrial { index, block, cell, arm });
        }
    }
    trials
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

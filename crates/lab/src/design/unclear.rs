//! Which cells are in a comparison that is unclear, judged as the report will judge it. Must not know how trials are chosen
//! from it.

use std::collections::BTreeSet;

use samples::Arm;
use scenario::{Plan, Step};
use stats::{Difference, NoiseFloor, noise, verdict};

use super::observations::Observations;

/// The confidence that reports ask of every interval.
const CONFIDENCE: f64 = 0.95;

/// Of a workload's cells those whose comparison is not clear by the blocks before `block`, with what they are compared with.
pub(super) fn cells(plan: &Plan, seen: &Observations, workload: &[usize], block: u32) -> BTreeSet<usize> {
    let steps = || plan.steps.iter().filter(|step| workload.contains(&step.cell));
    let floor = floor(plan, seen, workload, block);
    let unclear = |step: &&Step| is_unclear(seen, step, floor.as_ref(), block);
    steps().filter(unclear).flat_map(|step| [step.cell, step.reference]).collect()
}

fn is_unclear(seen: &Observations, step: &Step, floor: Option<&NoiseFloor>, block: u32) -> bool {
    let pairs = seen.paired((step.reference, Arm::Measure), (step.cell, Arm::Measure), block);
    let judged = floor.and_then(|floor| verdict::of_pairs(&pairs, floor, CONFIDENCE));
    judged.is_none_or(|(_, difference)| difference == Difference::Unclear)
}

/// What the workload's baseline differs from itself by.
fn floor(plan: &Plan, seen: &Observations, workload: &[usize], block: u32) -> Option<NoiseFloor> {
    let baseline = *workload.iter().find(|cell| plan.cells[**cell].baseline)?;
    let against = |cell: usize, arm| seen.paired((baseline, Arm::Measure), (cell, arm), block);
    let others: Vec<Vec<(f64, f64)>> =
        workload.iter().filter(|cell| **cell != baseline).map(|cell| against(*cell, Arm::Measure)).collect();
    noise::of_workload(&against(baseline, Arm::Again), others, CONFIDENCE)
}

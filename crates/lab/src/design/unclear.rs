//! Finds results in undecided comparisons, by the same test as the report.

use std::collections::BTreeSet;

use samples::Arm;
use scenario::{Plan, Step};
use stats::{Difference, NoiseFloor, noise, verdict};

use super::observations::Observations;

/// Confidence level of reports.
const CONFIDENCE: f64 = 0.95;

/// Results of a workload with an undecided comparison after the blocks before `block`, with their baseline.
pub(super) fn results(plan: &Plan, seen: &Observations, workload: &[usize], block: u32) -> BTreeSet<usize> {
    let steps = || plan.steps.iter().filter(|step| workload.contains(&step.result));
    let floor = floor(plan, seen, workload, block);
    let unclear = |step: &&Step| is_unclear(seen, step, floor.as_ref(), block);
    steps().filter(unclear).flat_map(|step| [step.result, step.reference]).collect()
}

fn is_unclear(seen: &Observations, step: &Step, floor: Option<&NoiseFloor>, block: u32) -> bool {
    let pairs = seen.paired((step.reference, Arm::Measure), (step.result, Arm::Measure), block);
    let judged = floor.and_then(|floor| verdict::of_pairs(&pairs, floor, CONFIDENCE));
    judged.is_none_or(|(_, difference)| difference == Difference::Unclear)
}

/// The noise floor of the workload: its baseline against itself.
fn floor(plan: &Plan, seen: &Observations, workload: &[usize], block: u32) -> Option<NoiseFloor> {
    let baseline = *workload.iter().find(|result| plan.results[**result].baseline)?;
    let against = |result: usize, arm| seen.paired((baseline, Arm::Measure), (result, arm), block);
    let others: Vec<Vec<(f64, f64)>> = workload
        .iter()
        .filter(|result| **result != baseline)
        .map(|result| against(*result, Arm::Measure))
        .collect();
    noise::of_workload(&against(baseline, Arm::Again), others, CONFIDENCE)
}

//! Arbitrary text through everything that reads a scenario, with what must hold; fuzzers call it.

use crate::{Plan, PlanOptions, Scenario};

/// Cells of a scenario that are worth a plan: with many factors there are millions.
const CELLS: usize = 1000;

/// A document is understood and planned, or told what is wrong with it.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scenario::parse("fuzz.toml", text) {
        Ok(scenario) => {
            let levels = scenario.factors.iter().map(|factor| factor.levels.len());
            let cells = levels.fold(scenario.paths.len() * scenario.workloads.len(), usize::saturating_mul);
            if cells <= CELLS {
                let options = PlanOptions { trials: Some(2), ..PlanOptions::default() };
                let plan = Plan::expand(&scenario, 1, &options);
                assert!(plan.trials.iter().all(|trial| trial.cell < plan.cells.len()));
            }
        }
        Err(diagnosis) => assert!(!diagnosis.to_string().is_empty()),
    }
}

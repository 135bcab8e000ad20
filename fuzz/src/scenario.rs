//! Entry point for fuzzers: parses and plans arbitrary text and checks invariants.

use scenario::{Plan, PlanOptions, Scenario};

/// Skips larger plans, because many factors produce millions of results.
const MOST_RESULTS: usize = 1000;

pub(crate) fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Scenario::parse("fuzz.toml", text) {
        Ok(scenario) => {
            let levels = scenario.factors.iter().map(|factor| factor.levels.len());
            let results = levels.fold(scenario.paths.len() * scenario.workloads.len(), usize::saturating_mul);
            if results <= MOST_RESULTS {
                let options = PlanOptions { trials: Some(2), ..PlanOptions::default() };
                let plan = Plan::expand(&scenario, 1, &options);
                assert!(plan.trials.iter().all(|trial| trial.result < plan.results.len()));
            }
        }
        Err(diagnosis) => assert!(!diagnosis.to_string().is_empty()),
    }
}

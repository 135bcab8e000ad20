//! Predicts the minimum number of trials and the maximum duration of a run.

use scenario::Plan;
use units::Nanos;

const SCREENING: u32 = 2;
const FEWEST_TO_ESTABLISH: u32 = stats::location::FEWEST as u32;
/// The maximum fraction of the budget for screening. If two blocks would exceed it, screening has only one
/// block.
const SCREENING_SHARE: f64 = 0.6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    pub pass: Nanos,
    pub screening_blocks: u32,
    pub screening_trials: u32,
    pub screening: Nanos,
    pub most_trials: u32,
    /// The approximate maximum time: the budget, or the full matrix if that is shorter.
    pub most: Nanos,
}

impl Forecast {
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.most < self.pass
    }
}

#[must_use]
pub fn forecast(plan: &Plan) -> Option<Forecast> {
    if !plan.design.is_adaptive() {
        return None;
    }
    let blocks = plan.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
    let screening_blocks = screening_blocks(plan).min(blocks);
    let full = plan.duration_estimate();
    Some(Forecast {
        pass: blocks_take(plan, 1),
        screening_blocks,
        screening_trials: plan.trials.iter().filter(|trial| trial.block < screening_blocks).count() as u32,
        screening: blocks_take(plan, screening_blocks),
        most_trials: plan.trials.len() as u32,
        most: plan.design.budget.map_or(full, |budget| budget.min(full)),
    })
}

/// Returns the number of trials per result needed to establish a difference. Returns `None` if the plan has
/// enough trials or only one result.
#[must_use]
pub fn trials_lacking(plan: &Plan) -> Option<u32> {
    let blocks = plan.trials.last().map_or(0, |trial| trial.block + 1);
    (plan.results.len() > 1 && blocks < FEWEST_TO_ESTABLISH).then_some(FEWEST_TO_ESTABLISH)
}

pub(super) fn screening_blocks(plan: &Plan) -> u32 {
    if plan.design.until_clear {
        let fits =
            |blocks: &u32| plan.design.budget.is_none_or(|budget| blocks_take(plan, *blocks) <= budget);
        return (1..=FEWEST_TO_ESTABLISH).rev().find(fits).unwrap_or(1);
    }
    let affordable =
        |budget: Nanos| blocks_take(plan, SCREENING).seconds() <= SCREENING_SHARE * budget.seconds();
    if plan.design.budget.is_none_or(affordable) { SCREENING } else { 1 }
}

fn blocks_take(plan: &Plan, blocks: u32) -> Nanos {
    let in_them = plan.trials.iter().take_while(|trial| trial.block < blocks);
    plan.estimate_of(in_them)
}

#[cfg(test)]
mod tests {
    use scenario::{PlanOptions, Scenario, builtin};

    use super::*;

    #[test]
    fn requires_five_trials_to_compare_results() {
        let text = builtin::find("quick").expect("built in").text;
        let scenario = Scenario::parse("quick", text).expect("it parses");
        let lacking = |trials, paths: &[&str]| {
            let paths = paths.iter().map(|path| scenario::PathName::new(*path)).collect();
            let workloads = scenario.workloads.iter().take(1).map(|workload| workload.name.clone()).collect();
            let options = PlanOptions { trials: Some(trials), paths, workloads, ..PlanOptions::default() };
            trials_lacking(&Plan::expand(&scenario, 0, &options))
        };
        assert_eq!([lacking(4, &[]), lacking(5, &[])], [Some(5), None]);
        let one = lacking(1, &["node-to-node"]);
        assert_eq!(one, None, "a single result needs no comparison");
    }
}

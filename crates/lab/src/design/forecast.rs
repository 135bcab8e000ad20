//! What a design would do, before anything is measured: how much of it is certain, and how long it takes at most.

use scenario::Plan;
use units::Nanos;

/// Blocks in which every cell is measured before any is left out.
const SCREENING: u32 = 2;
/// So many blocks establish a difference.
const FEWEST_TO_ESTABLISH: u32 = stats::paired::FEWEST_TO_WEIGH as u32;
/// The part of a budget that screening may take; where two blocks take more, one must do.
const SCREENING_SHARE: f64 = 0.6;

/// What a plan with a budget or a precision comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// The time that one pass takes, about: the least budget that measures every cell.
    pub pass: Nanos,
    /// Blocks in which every cell is measured.
    pub screening_blocks: u32,
    pub screening_trials: u32,
    /// The time that they take, about.
    pub screening: Nanos,
    /// The most trials that are made: the full matrix.
    pub most_trials: u32,
    /// The most time that all trials take, about: the budget, or that of the full matrix where it is less.
    pub most: Nanos,
}

impl Forecast {
    /// Whether the budget is too short to measure every cell once.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        self.most < self.pass
    }
}

/// What is certain of a plan and what is the most; `None` for a full matrix.
#[must_use]
pub fn forecast(plan: &Plan) -> Option<Forecast> {
    if !plan.design.is_adaptive() {
        return None;
    }
    let screening_blocks = screening_blocks(plan);
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

/// How many trials a result must have before a difference to another can be established, where a plan of several cells has
/// fewer.
#[must_use]
pub fn trials_lacking(plan: &Plan) -> Option<u32> {
    let blocks = plan.trials.last().map_or(0, |trial| trial.block + 1);
    (plan.cells.len() > 1 && blocks < FEWEST_TO_ESTABLISH).then_some(FEWEST_TO_ESTABLISH)
}

/// In how many blocks every cell is measured.
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
    fn fewer_than_five_trials_establish_nothing_between_several_cells() {
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
        assert_eq!(one, None, "one cell is compared with none");
    }
}

//! Evaluates a workload's values and comparisons, with the same fit and the same trials as the report.

use std::collections::BTreeSet;

use samples::Arm;
use scenario::{Plan, Step};
use stats::{Difference, Family, Fit, Level, ab::CONFIDENCE, interval};

use super::observations::Observations;

pub(super) struct Judged<'a> {
    pub(super) seen: &'a Observations,
    pub(super) block: u32,
    results: Vec<usize>,
    fit: Option<Fit>,
}

impl<'a> Judged<'a> {
    pub(super) fn of(plan: &Plan, seen: &'a Observations, workload: &str, block: u32) -> Self {
        let own = |result: &usize| plan.results[*result].workload.as_str() == workload;
        let mut results: Vec<usize> = (0..plan.results.len()).filter(own).collect();
        results.sort_by_key(|result| !plan.results[*result].baseline);
        let baseline = results.first().copied().filter(|result| plan.results[*result].baseline);
        let fit = baseline.and_then(|baseline| {
            let values: Vec<stats::Blocks> =
                results.iter().map(|result| seen.blocks(*result, Arm::Measure, block)).collect();
            Fit::of(&values, &seen.blocks(baseline, Arm::Again, block), family(plan, seen, block))
        });
        Self { seen, block, results, fit }
    }

    /// Returns the distance from the value to the farther end of its interval, relative to the value, or `None`
    /// if there are too few trials.
    pub(super) fn reach(&self, result: usize) -> Option<f64> {
        let place = self.place(result)?;
        let fitted = self.fit.as_ref().and_then(|fit| fit.value(place, interval::TO_STOP));
        let alone = || {
            let values = self.seen.blocks(result, Arm::Measure, self.block);
            Level::of(&values.into_values().collect::<Vec<_>>())?.estimate(interval::TO_STOP)
        };
        fitted.or_else(alone)?.reach()
    }

    pub(super) fn unclear(&self, plan: &Plan) -> BTreeSet<usize> {
        let steps = plan.steps.iter().filter(|step| self.place(step.result).is_some());
        steps.filter(|step| self.is_unclear(step)).flat_map(|step| [step.result, step.reference]).collect()
    }

    fn is_unclear(&self, step: &Step) -> bool {
        self.judge(step.result, step.reference).is_none_or(|difference| difference == Difference::Unclear)
    }

    pub(super) fn judge(&self, result: usize, reference: usize) -> Option<Difference> {
        let (place, below) = (self.place(result)?, self.place(reference)?);
        let judged = self.fit.as_ref()?.judge(place, below, CONFIDENCE)?.1;
        let is_disturbed =
            [result, reference].into_iter().any(|it| self.seen.is_mostly_disturbed(it, self.block));
        Some(if is_disturbed { Difference::Unclear } else { judged })
    }

    fn place(&self, result: usize) -> Option<usize> {
        self.results.iter().position(|known| *known == result)
    }
}

/// Excludes baselines, as the report does.
fn family(plan: &Plan, seen: &Observations, block: u32) -> Family {
    let compared = (0..plan.results.len()).filter(|result| !plan.results[*result].baseline);
    Family::of(compared.filter(|result| seen.has_data(*result, block)).count())
}

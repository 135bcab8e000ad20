//! The trials as the design sees them: value, cost and start time.

use std::collections::{BTreeMap, BTreeSet};

use samples::{Arm, DiscardedAttempt, Trial, ValidityWarning};
use scenario::Plan;
use units::Nanos;
use workload::Metric;

/// A gap longer than this multiple of a trial's expected time means that the run was interrupted and resumed.
const BREAK: u64 = 4;
const SHORTEST_BREAK: Nanos = Nanos::from_secs(60);

#[derive(Debug, Clone, Default)]
pub(super) struct Observations {
    indices: BTreeSet<u32>,
    points: BTreeMap<usize, Vec<Point>>,
    disturbed: BTreeMap<u32, Vec<DiscardedAttempt>>,
    begun: Vec<(i64, usize)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    index: u32,
    block: u32,
    arm: Arm,
    metric: Metric,
    value: Option<f64>,
    disturbed: bool,
    flawed: bool,
    cpus: Option<f64>,
}

impl Point {
    /// The logarithm of the value, where higher is better. `None` if nothing arrived.
    pub(super) fn goodness(&self) -> Option<f64> {
        let logarithm = self.value.filter(|value| *value > 0.0)?.ln();
        self.metric.more_is_better().map(|more| if more { logarithm } else { -logarithm })
    }

    fn is_silent(&self) -> bool {
        self.value.is_none_or(|value| value <= 0.0)
    }

    pub(super) fn efficiency(&self) -> Option<f64> {
        Some(self.goodness()? - self.cost()?)
    }

    pub(super) fn thrift(&self) -> Option<f64> {
        self.goodness().and(self.cost()).map(|cost| -cost)
    }

    fn cost(&self) -> Option<f64> {
        self.cpus.filter(|cpus| *cpus > 0.0).map(f64::ln)
    }
}

impl Observations {
    /// A trial replaces its earlier attempt. Results outside the plan are ignored.
    pub(super) fn take(&mut self, plan: &Plan, trial: &Trial) {
        let Some(result) = plan.results.iter().position(|result| result.id.as_str() == trial.result) else {
            return;
        };
        self.indices.insert(trial.index);
        self.begun.push((trial.started.0, result));
        let metric = trial.metric();
        let disturbance =
            trial.warnings.iter().find(|warning| matches!(warning, ValidityWarning::Disturbed { .. }));
        self.disturbed.remove(&trial.index);
        if let Some(reason) = disturbance.cloned() {
            let own = DiscardedAttempt { started: trial.started, reason };
            self.disturbed.insert(trial.index, trial.discarded.iter().cloned().chain([own]).collect());
        }
        let point = Point {
            index: trial.index,
            block: trial.block,
            arm: trial.arm,
            metric,
            value: trial.value(metric).filter(|_| !trial.is_unwatched()),
            disturbed: trial.is_disturbed(),
            flawed: trial.is_flawed(),
            cpus: trial.cpu.own_cpus(),
        };
        let points = self.points.entry(result).or_default();
        points.retain(|known| known.index != trial.index);
        points.push(point);
    }

    pub(super) fn disturbed(&self) -> impl Iterator<Item = (u32, &[DiscardedAttempt])> {
        self.disturbed.iter().map(|(index, attempts)| (*index, attempts.as_slice()))
    }

    pub(super) fn has(&self, index: u32) -> bool {
        self.indices.contains(&index)
    }

    pub(super) fn before(&self, result: usize, block: u32) -> impl Iterator<Item = &Point> {
        self.of_arm(result, Arm::Measure, block)
    }

    fn of_arm(&self, result: usize, arm: Arm, block: u32) -> impl Iterator<Item = &Point> {
        let points = self.points.get(&result).into_iter().flatten();
        points.filter(move |point| point.arm == arm && point.block < block)
    }

    pub(super) fn counted(&self, result: usize, arm: Arm, block: u32) -> impl Iterator<Item = &Point> {
        let points = || self.of_arm(result, arm, block);
        let leaves_out = samples::leaves_out_disturbed(points().map(|point| point.flawed));
        points().filter(move |point| !(leaves_out && point.flawed))
    }

    pub(super) fn blocks(&self, result: usize, arm: Arm, block: u32) -> BTreeMap<u32, f64> {
        self.counted(result, arm, block).filter_map(|point| Some((point.block, point.value?))).collect()
    }

    pub(super) fn has_data(&self, result: usize, block: u32) -> bool {
        self.counted(result, Arm::Measure, block).any(|point| !point.is_silent())
    }

    pub(super) fn is_mostly_disturbed(&self, result: usize, block: u32) -> bool {
        let usable = self.counted(result, Arm::Measure, block).filter(|point| point.value.is_some());
        samples::is_mostly_disturbed(usable.map(|point| point.disturbed))
    }

    pub(super) fn was_silent(&self, result: usize, block: u32) -> bool {
        self.counted(result, Arm::Measure, block).any(Point::is_silent)
    }

    pub(super) fn unusable(&self, result: usize) -> usize {
        self.before(result, u32::MAX).filter(|point| point.is_silent()).count()
    }

    pub(super) fn trials(&self, result: usize) -> usize {
        self.before(result, u32::MAX).count()
    }

    pub(super) fn pairs(&self, baseline: usize, block: u32) -> usize {
        let points = self.points.get(&baseline).into_iter().flatten();
        points.filter(|point| point.arm == Arm::Again && point.block < block).count()
    }

    pub(super) fn spent(&self, plan: &Plan) -> Nanos {
        let ends = self.begun.iter().skip(1).map(|(began, _)| Some(*began)).chain([None]);
        self.begun.iter().zip(ends).map(|((began, result), end)| took(plan, *result, *began, end)).sum()
    }

    pub(super) fn expected(&self, plan: &Plan, result: usize) -> Nanos {
        let pairs = self.begun.windows(2).filter(|pair| pair[0].1 == result);
        let took = pairs.map(|pair| took(plan, result, pair[0].0, Some(pair[1].0))).max();
        took.unwrap_or_else(|| plan.trial_estimate(result))
    }
}

fn took(plan: &Plan, result: usize, began: i64, next: Option<i64>) -> Nanos {
    let estimate = plan.trial_estimate(result);
    let gap = next.and_then(|next| u64::try_from(next - began).ok()).map(Nanos::from_millis);
    let usual = |gap: &Nanos| gap.0 <= (estimate.0 * BREAK).max(SHORTEST_BREAK.0);
    gap.filter(usual).unwrap_or(estimate)
}

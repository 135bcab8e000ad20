//! Trials as the design sees them: one value, what it cost, when it began. Must not know what is decided by them.

use std::collections::{BTreeMap, BTreeSet};

use samples::{Arm, DiscardedAttempt, Trial, ValidityWarning};
use scenario::Plan;
use units::Nanos;
use workload::Metric;

/// A gap so much longer than a trial was expected to take is a break: the run was resumed in it.
const BREAK: u64 = 4;
/// Nor is a shorter one than this a break.
const SHORTEST_BREAK: Nanos = Nanos::from_secs(60);

/// The trials that are there.
#[derive(Debug, Clone, Default)]
pub(super) struct Observations {
    indices: BTreeSet<u32>,
    points: BTreeMap<usize, Vec<Point>>,
    /// Of trials that others disturbed, by their index: this attempt and those before it.
    disturbed: BTreeMap<u32, Vec<DiscardedAttempt>>,
    /// When each began, and its cell, in the order in which they were made.
    begun: Vec<(i64, usize)>,
}

/// A trial.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    index: u32,
    block: u32,
    arm: Arm,
    metric: Metric,
    /// In the metric's unit; `None` when nothing came through, or it says nothing of its cell.
    value: Option<f64>,
    /// Whether nothing came through.
    silent: bool,
    /// CPUs of the machine that were busy on average; `None` when nobody looked.
    cpus: Option<f64>,
}

impl Point {
    /// How good it is as a logarithm: higher is better; `None` when nothing came through.
    pub(super) fn goodness(&self) -> Option<f64> {
        let logarithm = self.value.filter(|value| *value > 0.0)?.ln();
        self.metric.more_is_better().map(|more| if more { logarithm } else { -logarithm })
    }

    /// How good it is for what it cost, as a logarithm.
    pub(super) fn efficiency(&self) -> Option<f64> {
        Some(self.goodness()? - self.cost()?)
    }

    /// How little it cost as a logarithm; `None` when nothing came through.
    pub(super) fn thrift(&self) -> Option<f64> {
        self.goodness().and(self.cost()).map(|cost| -cost)
    }

    /// What it cost as a logarithm.
    fn cost(&self) -> Option<f64> {
        self.cpus.filter(|cpus| *cpus > 0.0).map(f64::ln)
    }
}

impl Observations {
    /// Takes a trial, in the place of an earlier attempt; one whose cell is not in the plan is left out.
    pub(super) fn take(&mut self, plan: &Plan, trial: &Trial) {
        let Some(cell) = plan.cells.iter().position(|cell| cell.id.as_str() == trial.cell) else { return };
        self.indices.insert(trial.index);
        self.begun.push((trial.started.0, cell));
        let metric = trial.measurement.kind().metric();
        let value = trial.measurement.value(metric).filter(|value| *value > 0.0);
        let disturbance =
            trial.doubts.iter().find(|doubt| matches!(doubt, ValidityWarning::Disturbed { .. }));
        self.disturbed.remove(&trial.index);
        if let Some(because) = disturbance.cloned() {
            let own = DiscardedAttempt { started: trial.started, because };
            self.disturbed.insert(trial.index, trial.discarded.iter().cloned().chain([own]).collect());
        }
        let point = Point {
            index: trial.index,
            block: trial.block,
            arm: trial.arm,
            metric,
            value: value.filter(|_| !trial.doubts.iter().any(is_void)),
            silent: value.is_none(),
            cpus: trial.cpu.own_cpus(),
        };
        let points = self.points.entry(cell).or_default();
        points.retain(|known| known.index != trial.index);
        points.push(point);
    }

    /// The trials that others disturbed, by their index, with the attempts so far.
    pub(super) fn disturbed(&self) -> impl Iterator<Item = (u32, &[DiscardedAttempt])> {
        self.disturbed.iter().map(|(index, attempts)| (*index, attempts.as_slice()))
    }

    /// Whether the trial of that index is there.
    pub(super) fn has(&self, index: u32) -> bool {
        self.indices.contains(&index)
    }

    /// The trials that measure a cell in the blocks before `block`.
    pub(super) fn before(&self, cell: usize, block: u32) -> impl Iterator<Item = &Point> {
        let points = self.points.get(&cell).into_iter().flatten();
        points.filter(move |point| point.arm == Arm::Measure && point.block < block)
    }

    /// Their values, those that have one.
    pub(super) fn values(&self, cell: usize, block: u32) -> Vec<f64> {
        self.before(cell, block).filter_map(|point| point.value).collect()
    }

    /// The values of two cells in the blocks before `block` that have both, those of the first one first.
    pub(super) fn paired(&self, first: (usize, Arm), second: (usize, Arm), block: u32) -> Vec<(f64, f64)> {
        let of = |(cell, arm): (usize, Arm)| {
            let points = self.points.get(&cell).into_iter().flatten();
            let points = points.filter(move |point| point.arm == arm && point.block < block);
            points.filter_map(|point| Some((point.block, point.value?))).collect::<BTreeMap<_, _>>()
        };
        let seconds = of(second);
        of(first).into_iter().filter_map(|(block, value)| Some((value, *seconds.get(&block)?))).collect()
    }

    /// Whether nothing came through in one of its trials before `block`.
    pub(super) fn was_silent(&self, cell: usize, block: u32) -> bool {
        self.before(cell, block).any(|point| point.silent)
    }

    /// How many of its trials cannot be used.
    pub(super) fn unusable(&self, cell: usize) -> usize {
        self.before(cell, u32::MAX).filter(|point| point.value.is_none()).count()
    }

    /// How many trials measure a cell.
    pub(super) fn trials(&self, cell: usize) -> usize {
        self.before(cell, u32::MAX).count()
    }

    /// How many blocks before `block` have the baseline twice.
    pub(super) fn pairs(&self, baseline: usize, block: u32) -> usize {
        let points = self.points.get(&baseline).into_iter().flatten();
        points.filter(|point| point.arm == Arm::Again && point.block < block).count()
    }

    /// The time that the trials took: from the beginning of each to that of the next, breaks not counted.
    pub(super) fn spent(&self, plan: &Plan) -> Nanos {
        let ends = self.begun.iter().skip(1).map(|(began, _)| Some(*began)).chain([None]);
        self.begun.iter().zip(ends).map(|((began, cell), end)| took(plan, *cell, *began, end)).sum()
    }

    /// What a trial of the cell is expected to take: what others of it took, or else the plan's estimate.
    pub(super) fn expected(&self, plan: &Plan, cell: usize) -> Nanos {
        let pairs = self.begun.windows(2).filter(|pair| pair[0].1 == cell);
        let took = pairs.map(|pair| took(plan, cell, pair[0].0, Some(pair[1].0))).max();
        took.unwrap_or_else(|| plan.trial_estimate(cell))
    }
}

/// Whether a trial says nothing of its cell: it did not run for most of its time. One that others disturbed says little, but on
/// a machine that is always busy there are no others.
fn is_void(doubt: &ValidityWarning) -> bool {
    match doubt {
        ValidityWarning::OtherDuration { asked, measured } => measured.0 < asked.0 / 2,
        ValidityWarning::Interrupted { .. } | ValidityWarning::Stalled { .. } => true,
        _ => false,
    }
}

fn took(plan: &Plan, cell: usize, began: i64, next: Option<i64>) -> Nanos {
    let estimate = plan.trial_estimate(cell);
    let gap = next.and_then(|next| u64::try_from(next - began).ok()).map(Nanos::from_millis);
    let usual = |gap: &Nanos| gap.0 <= (estimate.0 * BREAK).max(SHORTEST_BREAK.0);
    gap.filter(usual).unwrap_or(estimate)
}

//! Cell by cell: the ratio of two runs and what it comes to.
//!
//! Trials of two runs are not made in the same blocks, so nothing pairs them. What a run has in common with itself
//! (placements, addresses, neighbours) is not in the scatter of its trials; the floor stands for that. It has two parts
//! that are independent of each other: [`noise::USUAL_BETWEEN_RUNS`], and how well each run knows the cell's median,
//! or somewhat more where its baseline differs from itself by more.

use findings::{Basis, CellContrast, Comparison, Difference, Metric, Verdict};
use stats::{Judged, ab, describe, interval, multiple, noise, verdict::WIDEST_IN_FLOORS};

use super::matching::Pair;
use crate::{
    alone::{self, MARGIN},
    compare,
    measured::Measured,
    noise::Noise,
    words::{count, percent},
};

/// A baseline's noise counts up to so many times that of the cell itself.
const MOST_OF_OWN: f64 = 2.0;
/// Confidence of how well a run knows a median, where its trials suffice: from six on, one outlier does not count.
const REACH: f64 = 0.75;
/// Nothing is called the same whose interval leaves a larger difference open, whatever the noise: everything would be.
const MOST_OPEN: f64 = 0.5;

/// With fewer trials of each of two runs no exchange of labels is rare enough: two in C(8, 4) = 70 are.
const ENOUGH: usize = 4;

/// Every cell of both runs, in the order of A.
pub(super) fn cells(pairs: &[Pair<'_, '_>], floors: &[Noise; 2]) -> Vec<CellContrast> {
    let looks: Vec<Look<'_>> = pairs.iter().map(|pair| Look::at(*pair, floors)).collect();
    // Of many cells one would seem to differ by chance alone. Holm's method would leave nothing to establish where every
    // cell of a sweep lost the same: with five trials each no cell's p is small enough for more than six cells.
    let p: Vec<f64> = looks.iter().filter_map(Look::p).collect();
    let mut adjusted = multiple::benjamini_hochberg(&p).unwrap_or(p).into_iter();
    looks
        .iter()
        .filter_map(|look| {
            let p = look.p().and_then(|_| adjusted.next());
            look.judged(p)
        })
        .collect()
}

/// What the trials of a cell in both runs say, before other cells are heeded.
struct Look<'m> {
    a: &'m Measured<'m>,
    b: &'m Measured<'m>,
    floor: Option<f64>,
    trials: Option<Judged>,
}

impl<'m> Look<'m> {
    fn at<'a: 'm>((a, b): Pair<'m, 'a>, noise: &[Noise; 2]) -> Self {
        let same_metric = a.metric == b.metric;
        let enough = same_metric && a.points.len() > 1 && b.points.len() > 1;
        let floor = same_metric.then(|| floor(a, b, noise)).flatten();
        let trials = enough.then(|| ab::judge(&a.values(), &b.values(), floor.unwrap_or(MARGIN))).flatten();
        Self { a, b, floor, trials }
    }

    fn p(&self) -> Option<f64> {
        self.trials.map(|judged| judged.p)
    }

    fn judged(&self, p: Option<f64>) -> Option<CellContrast> {
        let (a, b) = (compare::value(self.a)?, compare::value(self.b)?);
        let record = self.a.record;
        let comparison = self.comparison(p);
        let (verdict, why) = self.verdict(comparison.as_ref(), p);
        Some(CellContrast {
            cell: record.id.clone(),
            cell_b: (self.b.record.id != record.id).then(|| self.b.record.id.clone()),
            path: record.path.clone(),
            workload: record.workload.clone(),
            levels: record.levels.clone(),
            metric: self.a.metric,
            a,
            b,
            comparison,
            floor: self.floor,
            p,
            verdict,
            why,
        })
    }

    /// B over A.
    fn comparison(&self, p: Option<f64>) -> Option<Comparison> {
        if self.a.metric != self.b.metric {
            return None;
        }
        let Some((judged, p)) = self.trials.zip(p) else { return self.alone() };
        let floor = self.floor.unwrap_or(MARGIN);
        let difference = match ab::difference(&judged.ratio, p, floor) {
            stats::Difference::WithinNoise if !is_telling(&judged.ratio) => Difference::Unclear,
            stats::Difference::Unclear if is_telling(&judged.ratio) && is_near(&judged.ratio, floor) => {
                Difference::None
            }
            other => compare::said(other),
        };
        Some(Comparison {
            ratio: judged.ratio.value,
            ratio_interval: judged.ratio.interval.map(compare::named),
            difference: describe::median(&self.b.values())? - describe::median(&self.a.values())?,
            difference_interval: None,
            verdict: difference,
            basis: Basis::Trials,
        })
    }

    /// One trial on either side: the series, with a margin for what they do not know.
    fn alone(&self) -> Option<Comparison> {
        let mut comparison = alone::compare(self.b, self.a)?;
        comparison.verdict = match comparison.ratio_interval.filter(|_| comparison.basis == Basis::Intervals)
        {
            Some(interval) if interval.high < 1.0 / (1.0 + MARGIN) => Difference::Lower,
            Some(interval) if interval.low > 1.0 + MARGIN => Difference::Higher,
            Some(interval) if interval.low >= 1.0 / (1.0 + MARGIN) && interval.high <= 1.0 + MARGIN => {
                Difference::None
            }
            _ => Difference::Unclear,
        };
        Some(comparison)
    }

    fn verdict(&self, comparison: Option<&Comparison>, p: Option<f64>) -> (Verdict, Option<String>) {
        let unknown = |why: String| (Verdict::Unknown, Some(why));
        if self.a.metric != self.b.metric {
            return unknown(format!(
                "A is judged by its {} and B by its {}.",
                name(self.a.metric),
                name(self.b.metric)
            ));
        }
        let Some(comparison) = comparison else {
            return unknown(
                "In at least one trial nothing arrived, and a ratio with zero means nothing.".into(),
            );
        };
        match (comparison.verdict, self.a.metric.more_is_better()) {
            (Difference::None, _) => (Verdict::Same, None),
            (Difference::Unclear, _) => unknown(self.open(comparison, p)),
            (_, None) => unknown("It differs, and of this number neither more nor less is better.".into()),
            (Difference::Higher, Some(more)) => (if more { Verdict::Better } else { Verdict::Worse }, None),
            (Difference::Lower, Some(more)) => (if more { Verdict::Worse } else { Verdict::Better }, None),
        }
    }

    /// Why it cannot be told.
    fn open(&self, comparison: &Comparison, p: Option<f64>) -> String {
        let (a, b) = (self.a.points.len(), self.b.points.len());
        let Some(interval) = comparison.ratio_interval else {
            let trials = format!("A has {} and B {}", count(a, "trial"), b);
            return format!("{trials}, and nothing within them says how much they vary.");
        };
        if comparison.basis == Basis::Intervals {
            return format!(
                "One trial each: the interval of the ratio does not exclude differences of {}, as trials of one setting \
                 may show.",
                percent(MARGIN)
            );
        }
        if interval.confidence < stats::verdict::LEAST_CONFIDENCE - 1e-12 {
            let reached = crate::words::confident(interval.confidence);
            return format!(
                "With {a} trials in A and {b} in B an interval reaches a confidence of {reached} only: {ENOUGH} of each are \
                 the least that establish a difference."
            );
        }
        let floor = self.floor.unwrap_or(MARGIN);
        match p {
            Some(p) if p > ab::MOST_P && !(interval.low..=interval.high).contains(&1.0) => format!(
                "It may be chance: with so many cells and so few trials a difference like this one has a probability of {}.",
                percent(p)
            ),
            _ => format!(
                "The interval leaves open whether it is {} or {} of what it was, at a noise of {}: more trials would narrow it.",
                percent(interval.low),
                percent(interval.high),
                percent(floor)
            ),
        }
    }
}

/// What two runs of one thing may differ by; `None` when another tool made one.
///
/// A noisy baseline says less of a quiet cell than the cell's own trials do, and those know their scatter from few: so the
/// baseline's noise counts up to [`MOST_OF_OWN`] times the cell's own.
fn floor(a: &Measured<'_>, b: &Measured<'_>, noise: &[Noise; 2]) -> Option<f64> {
    if alone::is_told(a) || alone::is_told(b) {
        return None;
    }
    let own = reach(&a.values())?.max(reach(&b.values())?);
    let [one, other] = noise;
    let known = [one.floor(&a.record.workload), other.floor(&b.record.workload)];
    let baseline = known.into_iter().flatten().map(|floor| floor.relative).fold(0.0, f64::max);
    Some(noise::USUAL_BETWEEN_RUNS.hypot(baseline.clamp(own, MOST_OF_OWN * own)))
}

/// How far a median's interval reaches from it.
fn reach(values: &[f64]) -> Option<f64> {
    let estimate = interval::median_estimate(values, REACH)?;
    let interval = estimate.interval.filter(|interval| interval.low > 0.0)?;
    let reach = (interval.high / estimate.value).max(estimate.value / interval.low) - 1.0;
    reach.is_finite().then_some(reach)
}

/// Whether an interval is sure and narrow enough to call anything the same.
fn is_telling(ratio: &stats::Estimate) -> bool {
    let bound = 1.0 + MOST_OPEN;
    let tells = |interval: &stats::Interval| {
        interval.confidence >= stats::verdict::LEAST_CONFIDENCE - 1e-12
            && interval.low >= bound.recip()
            && interval.high <= bound
    };
    ratio.interval.as_ref().is_some_and(tells)
}

/// Whether no difference is seen and none beyond what trials of one setting often show is left open.
fn is_near(ratio: &stats::Estimate, floor: f64) -> bool {
    let size = floor.ln_1p();
    let within = |interval: &stats::Interval| {
        let reach = interval.high.ln().max(-interval.low.ln());
        let seen = ratio.value.ln().abs() > size && !interval.contains(1.0);
        !seen && reach <= (WIDEST_IN_FLOORS * size).max(MARGIN.ln_1p())
    };
    ratio.interval.as_ref().is_some_and(within)
}

fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "throughput",
        Metric::RoundTrip => "round trip",
        Metric::ConnectionRate => "connection rate",
        Metric::Latency => "latency",
        Metric::MessageRate => "message rate",
        Metric::Count => "count",
    }
}

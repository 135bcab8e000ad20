//! Estimates and comparisons of values and pairs, using `stats`.

use findings::{Basis, Comparison, Difference, Estimate, FEWEST_TO_ESTABLISH, Interval};
use stats::{describe, interval, paired, ratio, verdict};

use crate::{
    observations::{self, Observations},
    single_trial,
};

/// Requested confidence of intervals; with few trials less is attained.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Ratios that differ by more than this factor are both shown.
const VISIBLE: f64 = 1.1;

const _: () = assert!(FEWEST_TO_ESTABLISH as usize == paired::FEWEST_TO_WEIGH);

/// The values' median with its exact interval; `None` without values.
pub(crate) fn estimate(values: &[f64]) -> Option<Estimate> {
    let median = interval::median_estimate(values, CONFIDENCE)?;
    Some(Estimate {
        median: median.value,
        mean: describe::mean(values)?,
        deviation: describe::stddev(values),
        interval: median.interval.map(named),
        trials: u32::try_from(values.len()).unwrap_or(u32::MAX),
        basis: Basis::Trials,
    })
}

/// A result's value over its trials, or over the intervals of its only one.
pub(crate) fn value(result: &Observations<'_>) -> Option<Estimate> {
    single_trial::estimate(result).or_else(|| estimate(&result.values()))
}

/// `this` relative to `that` over common blocks; `None` without common blocks or with a zero. The difference in the metric's
/// unit is the ratio at the median of `that`.
pub(crate) fn compare(
    this: &Observations<'_>,
    that: &Observations<'_>,
    floor: Option<&stats::NoiseFloor>,
) -> Option<Comparison> {
    if single_trial::is_for(this, that) {
        return single_trial::compare(this, that);
    }
    let pairs = observations::pairs(&that.points, &this.points);
    let comparison = of_pairs(&pairs, floor)?;
    Some(Comparison { ratio_of_medians: of_medians(this, that, comparison.ratio), ..comparison })
}

/// Second of each pair relative to the first.
pub(crate) fn of_pairs(pairs: &[(f64, f64)], floor: Option<&stats::NoiseFloor>) -> Option<Comparison> {
    let (ratio, verdict) = match floor {
        Some(floor) => {
            let (ratio, difference) = verdict::of_pairs(pairs, floor, CONFIDENCE)?;
            (ratio, said(difference))
        }
        None => (ratio::paired_ratio(pairs, CONFIDENCE)?, Difference::Unclear),
    };
    let level = describe::median(&pairs.iter().map(|(that, _)| *that).collect::<Vec<_>>())?;
    let less = |ratio: f64| level * (ratio - 1.0);
    let interval = ratio.interval.map(named);
    Some(Comparison {
        ratio: ratio.value,
        ratio_of_medians: None,
        ratio_interval: interval,
        difference: less(ratio.value),
        difference_interval: interval.map(|it| Interval { low: less(it.low), high: less(it.high), ..it }),
        verdict,
        basis: Basis::Trials,
    })
}

/// The ratio of the medians, where a reader who divides them would wonder about the other one.
pub(crate) fn of_medians(this: &Observations<'_>, that: &Observations<'_>, ratio: f64) -> Option<f64> {
    let medians = describe::median(&this.values())? / describe::median(&that.values())?;
    (medians.is_normal() && (medians / ratio).ln().abs() > VISIBLE.ln()).then_some(medians)
}

/// An interval as findings hold it.
pub(crate) fn named(interval: stats::Interval) -> Interval {
    Interval { low: interval.low, high: interval.high, confidence: interval.confidence }
}

/// A verdict as findings hold it.
pub(crate) fn said(difference: stats::Difference) -> Difference {
    match difference {
        stats::Difference::Lower => Difference::Lower,
        stats::Difference::Higher => Difference::Higher,
        stats::Difference::WithinNoise => Difference::None,
        stats::Difference::Unclear => Difference::Unclear,
    }
}

//! Converts estimates and comparisons from `stats` to `findings`.

use findings::{Basis, Comparison, Difference, Estimate, FEWEST_TO_ESTABLISH, Interval};
use stats::{Level, ab, describe, location};

pub(crate) const CONFIDENCE: f64 = ab::CONFIDENCE;

const _: () = assert!(FEWEST_TO_ESTABLISH as usize == location::FEWEST);

/// Estimates unpaired values. The estimate is 0 if all values are outages.
pub(crate) fn estimate(values: &[f64]) -> Option<Estimate> {
    of_trials(values, Level::of(values).and_then(|level| level.estimate(CONFIDENCE)))
}

/// A value of 0 is an outage.
pub(crate) fn of_trials(values: &[f64], estimate: Option<stats::Estimate>) -> Option<Estimate> {
    let received: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    if values.is_empty() {
        return None;
    }
    Some(Estimate {
        estimate: estimate.map_or(0.0, |it| it.value),
        mean: describe::mean(&received).unwrap_or(0.0),
        deviation: describe::stddev(&received),
        interval: estimate.and_then(|it| it.interval).map(named),
        trials: number(values.len()),
        outages: number(values.len() - received.len()),
        basis: Basis::Trials,
    })
}

pub(crate) fn comparison(ratio: &stats::Estimate, verdict: Difference, reference: f64) -> Comparison {
    let less = |ratio: f64| reference * (ratio - 1.0);
    let interval = ratio.interval.map(named);
    Comparison {
        ratio: ratio.value,
        ratio_interval: interval,
        difference: less(ratio.value),
        difference_interval: interval.map(|it| Interval { low: less(it.low), high: less(it.high), ..it }),
        verdict,
        basis: Basis::Trials,
    }
}

pub(crate) fn named(interval: stats::Interval) -> Interval {
    Interval { low: interval.low, high: interval.high, confidence: interval.confidence }
}

pub(crate) fn converted(difference: stats::Difference) -> Difference {
    match difference {
        stats::Difference::Lower => Difference::Lower,
        stats::Difference::Higher => Difference::Higher,
        stats::Difference::WithinNoise => Difference::None,
        stats::Difference::Unclear => Difference::Unclear,
    }
}

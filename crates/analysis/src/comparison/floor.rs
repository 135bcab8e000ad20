//! What two runs of one thing may differ by.
//!
//! It has two parts that are independent of each other: [`noise::USUAL_BETWEEN_RUNS`], and how well each run knows the cell's
//! median, or somewhat more where its baseline differs from itself by more.

use stats::{interval, noise};

use super::matching::Pair;
use crate::{noise::Noise, observations::Observations, single_trial, words::percent};

/// A baseline's noise counts up to so many times that of the cell itself.
const MOST_OF_OWN: f64 = 2.0;
/// Confidence of how well a run knows a median, where its trials suffice: from six on, one outlier does not count.
const REACH: f64 = 0.75;

/// The floor of a cell; `None` where its trials do not say how well its median is known. Of another tool's trials, which have
/// no baseline beside them, what is assumed of two runs is all: their scatter is in the ratio's interval.
///
/// A noisy baseline says less of a quiet cell than the cell's own trials do, and those know their scatter from few: so the
/// baseline's noise counts up to [`MOST_OF_OWN`] times the cell's own.
pub(super) fn floor(a: &Observations<'_>, b: &Observations<'_>, floors: &[Noise; 2]) -> Option<f64> {
    if single_trial::is_told(a) || single_trial::is_told(b) {
        return Some(noise::USUAL_BETWEEN_RUNS);
    }
    let (own, baseline) = (own(a, b)?, of_baselines(a, floors));
    Some(noise::USUAL_BETWEEN_RUNS.hypot(baseline.clamp(own, MOST_OF_OWN * own)))
}

/// Says it where a baseline's noise did not count as a whole.
pub(super) fn caveat(pairs: &[Pair<'_, '_>], noise: &[Noise; 2]) -> Option<String> {
    let shortened = pairs.iter().filter_map(|(a, b)| {
        let (most, baseline) = (MOST_OF_OWN * own(a, b)?, of_baselines(a, noise));
        // A smaller one is within what is added for two separate runs.
        (baseline > most && baseline > noise::USUAL_BETWEEN_RUNS).then_some(baseline)
    });
    let shortened: Vec<f64> = shortened.collect();
    let most = shortened.iter().copied().fold(0.0, f64::max);
    (!shortened.is_empty()).then(|| {
        format!(
            "The baseline differed from itself by up to {}. {} steadier and judged by twice the spread of {} own \
             trials instead, because the baseline's noise would hide small differences.",
            percent(most),
            match shortened.len() {
                1 => "1 result is".to_owned(),
                several => format!("{several} results are"),
            },
            if shortened.len() == 1 { "its" } else { "their" }
        )
    })
}

/// How well the worse of the runs knows the cell's median.
fn own(a: &Observations<'_>, b: &Observations<'_>) -> Option<f64> {
    if a.metric != b.metric || single_trial::is_told(a) || single_trial::is_told(b) {
        return None;
    }
    Some(reach(&a.values())?.max(reach(&b.values())?))
}

/// What the baselines of the cell's workload differ from themselves by; 0 where that is not known.
fn of_baselines(a: &Observations<'_>, noise: &[Noise; 2]) -> f64 {
    let known = noise.iter().filter_map(|run| run.floor(&a.record.workload));
    known.map(|floor| floor.relative).fold(0.0, f64::max)
}

/// How far a median's interval reaches from it.
fn reach(values: &[f64]) -> Option<f64> {
    let estimate = interval::median_estimate(values, REACH)?;
    let interval = estimate.interval.filter(|interval| interval.low > 0.0)?;
    let reach = (interval.high / estimate.value).max(estimate.value / interval.low) - 1.0;
    reach.is_finite().then_some(reach)
}

//! Noise floor between two runs: the usual difference between runs combined with the precision of the medians, or with
//! the baseline's noise if that is larger.

use stats::{interval, noise};

use super::matching::Pair;
use crate::{fits::Fits, observations::Observations, single_trial, words::percent};

const MOST_OF_OWN: f64 = 2.0;
/// Confidence level of the interval that gives a median's precision. With six trials or more, this interval ignores one
/// outlier.
const REACH: f64 = 0.75;

/// Caps the baseline's noise at [`MOST_OF_OWN`] times the result's own. For imported results, returns the assumed noise
/// between runs. Returns `None` if the precision of a median is unknown.
pub(super) fn floor(a: &Observations<'_>, b: &Observations<'_>, floors: &[Fits; 2]) -> Option<f64> {
    if single_trial::is_imported(a) || single_trial::is_imported(b) {
        return Some(noise::USUAL_BETWEEN_RUNS);
    }
    let (own, baseline) = (own(a, b)?, of_baselines(a, floors));
    Some(a.usual_between_runs().hypot(baseline.clamp(own, MOST_OF_OWN * own)))
}

pub(super) fn limitation(pairs: &[Pair<'_, '_>], noise: &[Fits; 2]) -> Option<String> {
    let shortened = pairs.iter().filter_map(|(a, b)| {
        let (most, baseline) = (MOST_OF_OWN * own(a, b)?, of_baselines(a, noise));
        (baseline > most && baseline > noise::USUAL_BETWEEN_RUNS).then_some(baseline)
    });
    let shortened: Vec<f64> = shortened.collect();
    let most = shortened.iter().copied().fold(0.0, f64::max);
    (!shortened.is_empty()).then(|| {
        format!(
            "Repetitions of the baseline differed by up to {}, which would hide small differences. {} steadier and \
             therefore judged by twice the spread of {} own trials.",
            percent(most),
            match shortened.len() {
                1 => "1 result is".to_owned(),
                several => format!("{several} results are"),
            },
            if shortened.len() == 1 { "its" } else { "their" }
        )
    })
}

fn own(a: &Observations<'_>, b: &Observations<'_>) -> Option<f64> {
    if a.metric != b.metric || single_trial::is_imported(a) || single_trial::is_imported(b) {
        return None;
    }
    Some(reach(&a.received())?.max(reach(&b.received())?))
}

fn of_baselines(a: &Observations<'_>, noise: &[Fits; 2]) -> f64 {
    let known = noise.iter().filter_map(|run| run.floor(&a.record.workload));
    known.map(|floor| floor.relative).fold(0.0, f64::max)
}

fn reach(values: &[f64]) -> Option<f64> {
    let estimate = interval::median_estimate(values, REACH)?;
    let interval = estimate.interval.filter(|interval| interval.low > 0.0)?;
    let reach = (interval.high / estimate.value).max(estimate.value / interval.low) - 1.0;
    reach.is_finite().then_some(reach)
}

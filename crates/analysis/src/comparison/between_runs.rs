//! Judges a result by the noise between the runs of its scenario.

use stats::{Estimate, multiple, verdict};

use super::history::Learned;
use crate::words::percent;

/// Adjusts p-values for the number of results. A p-value is `None` if the noise or the ratio is unknown.
pub(super) fn chances(raw: &[Option<f64>]) -> Vec<Option<f64>> {
    let known: Vec<f64> = raw.iter().flatten().copied().collect();
    let mut adjusted = multiple::benjamini_hochberg(&known).unwrap_or(known).into_iter();
    raw.iter().map(|p| p.and_then(|_| adjusted.next())).collect()
}

/// Returns whether a ratio is within the noise between runs. Either its interval must be within the noise, or the ratio
/// itself must be within the observed differences between runs. These include the noise of trials.
pub(super) fn is_same(ratio: &Estimate, floor: f64, runs: &Learned) -> bool {
    let size = floor.ln_1p();
    let within = |interval: &stats::Interval| {
        let inside = verdict::reach(interval) <= size;
        verdict::is_sure(interval.confidence) && (inside || ratio.value.ln().abs() <= runs.relative.ln_1p())
    };
    ratio.interval.as_ref().is_some_and(within)
}

/// `ratio` is B relative to the reference. Returns `None` if the noise between runs covers the noise of the trials.
pub(super) fn left_open(ratio: &Estimate, floor: f64, runs: &Learned) -> Option<String> {
    let interval = ratio.interval.filter(|it| verdict::reach(it) > floor.ln_1p())?;
    Some(format!(
        "Based on the trials alone, B is {} to {} of {}. `same` means that the difference is within the noise between \
         the {} runs of this scenario, {}.",
        percent(interval.low),
        percent(interval.high),
        runs.reference(),
        runs.runs,
        percent(runs.relative)
    ))
}

//! What is said of a cell where further runs show what two runs of it differ by.

use stats::{BetweenRuns, Estimate, multiple, verdict};

use crate::words::percent;

/// Of each cell with its ratio, the chance that two runs of one thing lie so far apart, heeding how many cells there are;
/// `None` where nothing was learned, or there is no ratio.
pub(super) fn chances(cells: impl Iterator<Item = (Option<BetweenRuns>, Option<f64>)>) -> Vec<Option<f64>> {
    let raw: Vec<Option<f64>> = cells.map(|(runs, ratio)| Some(runs?.p(ratio?))).collect();
    let known: Vec<f64> = raw.iter().flatten().copied().collect();
    let mut adjusted = multiple::benjamini_hochberg(&known).unwrap_or(known).into_iter();
    raw.into_iter().map(|p| p.and_then(|_| adjusted.next())).collect()
}

/// Whether two runs are no farther apart than runs of the scenario are.
///
/// Either the ratio's interval lies within the noise; or the ratio itself lies within what runs were seen to differ by: that
/// has in it what trials scatter by, so that the interval adds nothing, however wide few trials make it.
pub(super) fn is_same(ratio: &Estimate, floor: f64, runs: &BetweenRuns) -> bool {
    let size = floor.ln_1p();
    let within = |interval: &stats::Interval| {
        let inside = verdict::reach(interval) <= size;
        verdict::is_sure(interval.confidence) && (inside || ratio.value.ln().abs() <= runs.relative.ln_1p())
    };
    ratio.interval.as_ref().is_some_and(within)
}

/// What the trials alone leave open of two runs that are the same as runs go.
pub(super) fn left_open((low, high): (String, String), runs: &BetweenRuns) -> String {
    format!(
        "Judged by the trials alone the ratio is {low} to {high}. `same` means that the difference is within the \
         noise between the {} runs of this scenario, {}.",
        runs.runs,
        percent(runs.relative)
    )
}

/// As findings hold it.
pub(super) fn named(runs: BetweenRuns) -> findings::BetweenRuns {
    findings::BetweenRuns { floor: runs.relative, runs: u32::try_from(runs.runs).unwrap_or(u32::MAX) }
}

//! Derives the answer of a comparison.

use crate::order::ByNumber;
use findings::{
    Comparison, ComparisonConclusion, ComparisonVerdict, Difference, DisturbedResults, GuardChange,
    GuardedMetric, ResultChange, ResultComparison, RunComparison, Verdict, VerdictCount,
};

use crate::verdict::count;

pub(super) fn verdict(comparison: &RunComparison) -> ComparisonVerdict {
    let number = |verdict| count(of(comparison, verdict).count());
    let results = VerdictCount {
        better: number(Verdict::Better),
        worse: number(Verdict::Worse),
        same: number(Verdict::Same),
        unknown: number(Verdict::Unknown),
    };
    let worse_guards: Vec<GuardChange> =
        comparison.results.iter().flat_map(|result| worse_guards(comparison, result)).collect();
    let disturbed: Vec<&String> =
        comparison.results.iter().filter_map(|result| result.disturbed.as_ref()).collect();
    let disturbed = disturbed
        .first()
        .map(|reason| DisturbedResults { results: count(disturbed.len()), reason: (*reason).clone() });
    let change = |verdict| largest(of(comparison, verdict)).map(|result| change(comparison, result));
    let mut changes: Vec<ResultChange> =
        [Verdict::Worse, Verdict::Better].into_iter().filter_map(change).collect();
    if changes.is_empty() {
        changes.extend(change(Verdict::Unknown));
    }
    let is_worse = results.worse > 0 || !worse_guards.is_empty();
    let conclusion = match (is_worse, results.better > 0) {
        (true, true) => ComparisonConclusion::Mixed,
        (true, false) => ComparisonConclusion::Worse,
        (false, true) => ComparisonConclusion::Better,
        _ if comparison.results.is_empty() => ComparisonConclusion::Nothing,
        _ if results.unknown == 0 => ComparisonConclusion::Same,
        _ if disturbed.as_ref().is_some_and(|it| it.results == count(comparison.results.len())) => {
            ComparisonConclusion::Repeat
        }
        _ => ComparisonConclusion::Undecided,
    };
    ComparisonVerdict { conclusion, changes, worse_guards, results, disturbed }
}

fn of(comparison: &RunComparison, verdict: Verdict) -> impl Iterator<Item = &ResultComparison> {
    comparison.results.iter().filter(move |result| result.verdict == verdict)
}

/// Ignores results with an unknown verdict if they are disturbed or have no ratio.
fn largest<'a>(results: impl Iterator<Item = &'a ResultComparison>) -> Option<&'a ResultComparison> {
    let is_unknown =
        |result: &ResultComparison| result.disturbed.is_some() || decisive_change(result).is_none();
    let known = results.filter(|result| result.verdict != Verdict::Unknown || !is_unknown(result));
    known.largest(|one| size(one))
}

/// Doubling and halving a value are changes of equal size. An outage is larger than any ratio.
pub(super) fn size(result: &ResultComparison) -> f64 {
    decisive_change(result).map_or(f64::INFINITY, |change| change.ratio.ln().abs())
}

fn decisive_change(result: &ResultComparison) -> Option<Comparison> {
    let more_is_better = result.metric.more_is_better() == Some(true);
    let direction =
        |is_better| if is_better == more_is_better { Difference::Higher } else { Difference::Lower };
    result.comparison.filter(|change| match result.verdict {
        Verdict::Better => change.verdict == direction(true),
        Verdict::Worse => change.verdict == direction(false),
        Verdict::Same | Verdict::Unknown => true,
    })
}

fn change(comparison: &RunComparison, result: &ResultComparison) -> ResultChange {
    ResultChange {
        result: result.result.clone(),
        label: comparison.label(result),
        verdict: result.verdict,
        change: decisive_change(result),
    }
}

fn worse_guards(comparison: &RunComparison, result: &ResultComparison) -> Vec<GuardChange> {
    let worse = result.guards.iter().filter(|guard| guard.verdict == Verdict::Worse);
    worse.map(|guard| guard_change(comparison, result, guard.metric, guard.summary.clone())).collect()
}

pub(super) fn guard_change(
    comparison: &RunComparison,
    result: &ResultComparison,
    metric: GuardedMetric,
    summary: String,
) -> GuardChange {
    GuardChange { result: result.result.clone(), label: comparison.label(result), metric, summary }
}

//! Results that received data in only one of the runs. They have no ratio, but must not go unnoticed.

use findings::{Basis, Estimate, ResultComparison, Verdict};
use samples::{Arm, RunRecord};
use workload::Metric;

use crate::{compare, observations::Observations, words::count};

/// With fewer trials, an outage may be chance.
const ENOUGH: usize = 4;

/// Returns a verdict if all trials of one run received data and no trial of the other did.
pub(super) fn between(a: &Observations<'_>, b: &Observations<'_>) -> Option<(Verdict, String)> {
    // A duration of zero is not an outage.
    a.metric.more_is_better().filter(|more| *more)?;
    let (a, b) = (a.values(), b.values());
    if passes(&a) && is_silent(&b) {
        return Some((Verdict::Worse, words("B", b.len(), "A", a.len())));
    }
    (is_silent(&a) && passes(&b)).then(|| (Verdict::Better, words("A", a.len(), "B", b.len())))
}

/// Returns a reason if a larger fraction of B's trials than of A's received no data, but not all of them.
pub(super) fn more(metric: Metric, a: &Estimate, b: &Estimate) -> Option<String> {
    metric.more_is_better().filter(|more| *more)?;
    let is_more = u64::from(b.outages) * u64::from(a.trials) > u64::from(a.outages) * u64::from(b.trials);
    (is_more && b.outages < b.trials)
        .then(|| format!("Nothing arrived in {} of {} trials of B.", b.outages, b.trials))
}

/// Returns the results of A for which B received no data in enough attempts.
pub(super) fn silent(a: &[Observations<'_>], b: &RunRecord, only_a: &[String]) -> Vec<ResultComparison> {
    a.iter()
        .filter(|result| only_a.contains(&result.record.id))
        .filter_map(|result| unanswered(result, b))
        .collect()
}

fn unanswered(result: &Observations<'_>, b: &RunRecord) -> Option<ResultComparison> {
    let record = result.record;
    let tried = b.trials.iter().filter(|trial| trial.result == record.id && trial.arm == Arm::Measure);
    let mut trials = 0;
    for trial in tried {
        // B recorded a different metric.
        if trial.measurement.kind().metric() != result.metric
            || trial.measurement.value(result.metric).is_some()
        {
            return None;
        }
        trials += 1;
    }
    let values = result.values();
    (trials >= ENOUGH && passes(&values)).then_some(())?;
    Some(ResultComparison {
        result: record.id.clone(),
        result_b: None,
        path: record.path.clone(),
        workload: record.workload.clone(),
        levels: record.levels.clone(),
        metric: result.metric,
        a: compare::estimate(&values)?,
        b: nothing(trials),
        comparison: None,
        floor: None,
        between_runs: None,
        p: None,
        disturbed: None,
        verdict: Verdict::Worse,
        reason: Some(words("B", trials, "A", values.len())),
    })
}

fn nothing(trials: usize) -> Estimate {
    let trials = u32::try_from(trials).unwrap_or(u32::MAX);
    Estimate {
        estimate: 0.0,
        mean: 0.0,
        deviation: None,
        interval: None,
        trials,
        outages: trials,
        basis: Basis::Trials,
    }
}

fn passes(values: &[f64]) -> bool {
    values.len() >= ENOUGH && values.iter().all(|value| *value > 0.0)
}

fn is_silent(values: &[f64]) -> bool {
    values.len() >= ENOUGH && values.iter().all(|value| *value == 0.0)
}

fn words(silent: &str, none: usize, other: &str, all: usize) -> String {
    format!(
        "Nothing arrived in any of the {} of {silent}, but traffic arrived in all {all} of {other}.",
        count(none, "trial")
    )
}

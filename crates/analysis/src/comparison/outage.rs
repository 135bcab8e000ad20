//! Trials without any data. They have no ratio and are judged separately.

use findings::{Basis, Estimate, ResultComparison, Verdict};
use samples::{Arm, RunRecord};
use stats::{ab::MOST_P, cluster};

use crate::{compare, observations::Observations, words::count};

/// Minimum number of trials in each run. With fewer, a change may be due to chance.
pub(super) const ENOUGH: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SilentTrials {
    pub(super) silent: u64,
    pub(super) trials: u64,
}

impl SilentTrials {
    pub(super) fn of(result: &Observations<'_>) -> Self {
        // A rate of zero is an outage, but a duration of zero is not.
        let is_silent = |value: &&f64| **value == 0.0 && result.metric.more_is_better() == Some(true);
        let values = result.values();
        let silent = values.iter().filter(is_silent).count();
        let unanswered = result
            .unusable
            .iter()
            .filter(|trial| trial.arm == Arm::Measure && trial.measurement.kind().metric() == result.metric);
        let unanswered = unanswered.count();
        Self { silent: (silent + unanswered) as u64, trials: (values.len() + unanswered) as u64 }
    }

    const fn counts(self) -> (u64, u64) {
        (self.silent, self.trials)
    }
}

pub(super) fn between(a: &Observations<'_>, b: &Observations<'_>) -> Option<(Verdict, String)> {
    a.metric.more_is_better().filter(|more| *more)?;
    let (a, b) = (a.values(), b.values());
    if passes(&a) && is_silent(&b) {
        return Some((Verdict::Worse, words("B", b.len(), "A", a.len())));
    }
    (is_silent(&a) && passes(&b)).then(|| (Verdict::Better, words("A", a.len(), "B", b.len())))
}

pub(super) fn more(a: &SilentTrials, b: &SilentTrials) -> Option<(Verdict, String)> {
    if b.silent * a.trials <= a.silent * b.trials {
        return None;
    }
    let is_enough = a.trials.min(b.trials) >= ENOUGH as u64;
    let is_sure = is_enough && cluster::more_in_b(a.counts(), b.counts()) <= MOST_P;
    let verdict = if is_sure { Verdict::Worse } else { Verdict::Unknown };
    let reason = format!(
        "Nothing arrived in {} of {} trials of B, compared with {} of {} in A.",
        b.silent, b.trials, a.silent, a.trials
    );
    Some((verdict, reason))
}

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
        // B received data or recorded another metric.
        if trial.metric() != result.metric || trial.value(result.metric).is_some() {
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
        same_within: None,
        between_runs: None,
        p: None,
        disturbed: None,
        verdict: Verdict::Worse,
        reason: Some(words("B", trials, "A", values.len())),
        guards: Vec::new(),
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

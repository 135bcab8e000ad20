//! Decides whether performance dropped by more than allowed.

use crate::order::sort_descending;
use findings::{
    Gate, GateOutcome, GuardComparison, GuardLimits, GuardedMetric, OpenQuestion, ResultComparison,
    RunComparison, Verdict,
};
use stats::{Estimate, Interval, ab, verdict};

use super::{
    environment, guards,
    verdict::{guard_change, size},
};
use crate::words::percent;

/// The default threshold, as a fraction.
pub const MAX_LOSS: f64 = 0.05;
/// The default threshold for instruction counts.
pub const MAX_LOSS_OF_COUNTS: f64 = 0.01;

/// `threshold` is a fraction, e.g. 0.05 for 5 %.
///
/// The gate fails if data no longer arrives, if the interval of a result's ratio (widened by the noise) is entirely
/// beyond the threshold, or if the interval of a guarded metric is entirely beyond its limit. It passes if the interval
/// of every result of A is entirely within the threshold and no guarded metric exceeds its limit. Otherwise, and if the
/// machines or scenarios differ, it is undecided.
#[must_use]
pub fn gate(comparison: &RunComparison, threshold: f64, guard_limits: GuardLimits) -> Gate {
    let apart = incomparable(comparison);
    let missing = comparison.only_a.iter().map(|result| undecided(result, "B has no such result."));
    let mut open: Vec<OpenQuestion> = missing.collect();
    let (mut regressed, mut tolerated, mut violations) = (Vec::new(), Vec::new(), Vec::new());
    for result in &comparison.results {
        if apart.is_none() && result.disturbed.is_none() {
            for guard in &result.guards {
                match guarded(guard, &guard_limits) {
                    Loss::Established(reason) => {
                        violations.push(guard_change(comparison, result, guard.metric, reason));
                    }
                    Loss::Open(reason) => open.push(undecided(&result.result, &reason)),
                    Loss::Excluded => {}
                }
            }
        }
        match (Loss::of(result, threshold), apart) {
            (Loss::Open(reason), None) => open.push(undecided(&result.result, &reason)),
            (_, Some(reason)) => open.push(undecided(&result.result, reason)),
            (Loss::Established(_), None) => regressed.push(result),
            (Loss::Excluded, None) if result.verdict == Verdict::Worse => {
                tolerated.push(result.result.clone());
            }
            (Loss::Excluded, None) => {}
        }
    }
    sort_descending(&mut regressed, |one| size(one));
    let regressions: Vec<String> = regressed.into_iter().map(|result| result.result.clone()).collect();
    let outcome = if !regressions.is_empty() || !violations.is_empty() {
        GateOutcome::Regressed
    } else if open.is_empty() && !comparison.results.is_empty() {
        GateOutcome::Passed
    } else {
        GateOutcome::Undecided
    };
    Gate { threshold, guard_limits, outcome, regressions, tolerated, violations, undecided: open }
}

/// A pass only requires the estimate to be within the limit, because the whole interval is rarely within it, even in
/// equal runs.
fn guarded(guard: &GuardComparison, limits: &GuardLimits) -> Loss {
    let limit = limits.of(guard.metric);
    if guard.metric == GuardedMetric::Outage {
        return match guard.verdict {
            Verdict::Worse => Loss::Established(guard.summary.clone()),
            Verdict::Unknown => Loss::Open(guard.summary.clone()),
            Verdict::Better | Verdict::Same => Loss::Excluded,
        };
    }
    if guard.verdict == Verdict::Worse && guard.change.low.is_some_and(|low| low > limit) {
        return Loss::Established(guards::beyond(guard, limit));
    }
    if guard.change.value > limit { Loss::Open(guards::beyond(guard, limit)) } else { Loss::Excluded }
}

fn undecided(result: &str, reason: &str) -> OpenQuestion {
    OpenQuestion { result: result.to_owned(), reason: reason.to_owned() }
}

fn incomparable(comparison: &RunComparison) -> Option<&'static str> {
    if environment::other_machine(comparison) {
        return Some("The runs were made on different machines.");
    }
    environment::other_scenario(comparison).then_some("The runs have different scenarios.")
}

enum Loss {
    Established(String),
    Excluded,
    Open(String),
}

impl Loss {
    fn of(result: &ResultComparison, threshold: f64) -> Self {
        if let Some(reason) = &result.disturbed {
            return Self::Open(reason.clone());
        }
        // A result with a complete outage has no ratio.
        if result.verdict == Verdict::Worse && result.comparison.is_none() {
            return Self::Established(String::new());
        }
        let Some(change) = change(result) else { return Self::Open(without_a_change(result)) };
        let least = 1.0 - threshold;
        if result.verdict == Verdict::Worse && change.high < least {
            Self::Established(String::new())
        } else if change.low >= least {
            Self::Excluded
        } else {
            Self::Open(open(result, &change, threshold))
        }
    }
}

fn without_a_change(result: &ResultComparison) -> String {
    result.reason.clone().unwrap_or_else(|| "There are too few trials for a useful interval.".into())
}

fn open(result: &ResultComparison, change: &Interval, threshold: f64) -> String {
    let noise = result.floor.unwrap_or_default();
    if noise >= threshold {
        let noise_source = match &result.between_runs {
            Some(runs) if runs.floor >= noise => {
                format!("The noise between {} runs of this scenario", runs.runs)
            }
            _ if result.p.is_none() => "The tolerance for few trials".to_owned(),
            _ => "The noise between two runs".to_owned(),
        };
        return format!("{noise_source}, {}, hides a loss of {}.", percent(noise), asked(threshold));
    }
    format!(
        "With {} noise, the loss is between {} and {}; more trials would narrow this range.",
        percent(noise),
        percent((1.0 - change.high).max(0.0)),
        percent((1.0 - change.low).max(0.0))
    )
}

fn asked(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

fn change(result: &ResultComparison) -> Option<Interval> {
    let comparison = result.comparison.as_ref()?;
    let more = result.metric.more_is_better()?;
    let interval = comparison.ratio_interval.filter(|it| verdict::is_sure(it.confidence))?;
    let expected = result.between_runs.and_then(|runs| runs.expected);
    let scale = expected.map_or(1.0, |it| result.a.estimate / (it.low * it.high).sqrt());
    let (low, high) = (interval.low * scale, interval.high * scale);
    let interval = Interval { low, high, confidence: interval.confidence };
    let ratio = Estimate { value: comparison.ratio * scale, interval: Some(interval) };
    // The interval of a few trials does not include the noise between runs.
    let change = if result.p.is_some() { interval } else { ab::change(&ratio, result.floor?)? };
    Some(if more {
        change
    } else {
        Interval { low: change.high.recip(), high: change.low.recip(), ..change }
    })
}

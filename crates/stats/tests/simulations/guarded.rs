//! Checks intervals, bounds and gates for percentiles and fractions of messages, in trials that differ.

use stats::{Bounds, cluster};

use crate::{
    case::Case,
    coverage::{ASKED, holds},
    draws::Draws,
};

const SPREAD: f64 = 0.3;
/// Standard normal quantile of 99 %.
const TAIL: f64 = 2.326;

pub(crate) fn cases() -> Vec<Case> {
    [coverage(), fractions(), met(), worse()].into_iter().flatten().collect()
}

/// Times with a 99th percentile of `tail`, in trials with levels that differ by `between`.
fn trials(draws: &mut Draws, (trials, messages): (usize, usize), between: f64, tail: f64) -> Vec<Vec<f64>> {
    let middle = tail.ln() - TAIL * SPREAD.hypot(between);
    let mut trial = || {
        let level = middle + between * draws.normal();
        (0..messages).map(|_| (level + SPREAD * draws.normal()).exp()).collect()
    };
    (0..trials).map(|_| trial()).collect()
}

fn p99(trials: &[Vec<f64>]) -> Option<(f64, Bounds)> {
    let all = sorted(&trials.concat());
    let value = all[(0.99 * all.len() as f64).ceil() as usize - 1];
    let sorted: Vec<Vec<f64>> = trials.iter().map(|trial| sorted(trial)).collect();
    let clusters = |at: usize| {
        let time = all[at];
        let count = |trial: &Vec<f64>| (trial.partition_point(|it| *it <= time) as f64, trial.len() as f64);
        sorted.iter().map(count).collect()
    };
    let (low, high) = cluster::percentile(0.99, all.len(), clusters, 0.95);
    Some((value, Bounds { low: low.map(|at| all[at]), high: high.map(|at| all[at]), confidence: 0.95 }))
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn coverage() -> Vec<Case> {
    let mut cases = Vec::new();
    for size in [(5, 1000), (10, 200), (10, 1000), (20, 500)] {
        for between in [0.0, 0.05, 0.2] {
            let data = format!("{} trials of {}, {:.0} % between trials", size.0, size.1, 100.0 * between);
            let method = "interval of a 99th percentile";
            let once = move |draws: &mut Draws| {
                let (_, bounds) = p99(&trials(draws, size, between, 50.0))?;
                Some(bounds.low? <= 50.0 && 50.0 <= bounds.high?)
            };
            // If trials differ as much as messages, the tail comes from one or two trials.
            cases.push(if between > 0.1 {
                Case::figure(method, data, once).answering(0.1)
            } else {
                Case::new(method, data, (0.90, 0.985), once).answering(0.8)
            });
        }
    }
    cases
}

fn fractions() -> Vec<Case> {
    let case = |trials: usize, spread: f64| {
        let data = format!("1 % of {trials} trials of 5000, {:.0} % between trials", 100.0 * spread);
        let claim = (ASKED.0 - 0.03, 0.99);
        Case::new("interval of a loss", data, claim, move |draws| {
            let mut lost = || {
                let share = 0.01 * (spread * draws.normal() - spread * spread / 2.0).exp();
                (0..5000).filter(|_| draws.chance(share)).count() as f64
            };
            let clusters: Vec<(f64, f64)> = (0..trials).map(|_| (lost(), 5000.0)).collect();
            holds(cluster::fraction(&clusters, 0.95)?.interval, 0.01)
        })
    };
    [(5, 0.0), (10, 0.0), (10, 0.3), (20, 0.3)].map(|(trials, spread)| case(trials, spread)).into()
}

/// Checks `--require "p99<50us"` with different message counts, five trials each.
fn met() -> Vec<Case> {
    let is_met = |messages: usize, tail: f64| {
        move |draws: &mut Draws| {
            let (_, bounds) = p99(&trials(draws, (5, messages / 5), 0.05, tail))?;
            Some(bounds.high.is_some_and(|high| high < 50.0))
        }
    };
    let wrong = [20, 100, 250, 1000, 5000].map(|messages| {
        let data = format!("p99 of 79 against 50, {messages} messages");
        Case::new("bound of a percentile: wrongly met", data, (0.0, 0.04), is_met(messages, 79.0))
    });
    let right = [1000, 5000].map(|messages| {
        let data = format!("p99 of 30 against 50, {messages} messages");
        Case::new("bound of a percentile: met", data, (0.8, 1.0), is_met(messages, 30.0))
    });
    wrong.into_iter().chain(right).collect()
}

/// A gate fails if the whole interval exceeds the limit, and passes if the estimate is within it.
fn worse() -> Vec<Case> {
    let change = |draws: &mut Draws, messages: usize, times: f64| {
        let log = |(value, bounds): (f64, Bounds)| (value.ln(), bounds.map(f64::ln));
        let a = log(p99(&trials(draws, (10, messages), 0.05, 50.0))?);
        let b = log(p99(&trials(draws, (10, messages), 0.05, 50.0 * times))?);
        Some(cluster::difference(a, b))
    };
    let limit = 1.5f64.ln();
    let mut cases = Vec::new();
    for messages in [20, 200, 1000] {
        let data = |times: f64| format!("p99 {times} times as long, 10 trials of {messages}");
        let passes = "guarded percentile: passes";
        cases.push(Case::new(passes, data(30.0), (0.0, 0.001), move |draws| {
            Some(change(draws, messages, 30.0)?.0 <= limit)
        }));
        let equal = move |draws: &mut Draws| Some(change(draws, messages, 1.0)?.0 <= limit);
        cases.push(if messages > 20 {
            Case::new(passes, data(1.0), (0.95, 1.0), equal)
        } else {
            Case::figure(passes, data(1.0), equal)
        });
    }
    cases.push(Case::new(
        "guarded percentile: fails",
        "p99 3 times as long, 10 trials of 1000",
        (0.95, 1.0),
        move |draws| Some(change(draws, 1000, 3.0)?.1.low.is_some_and(|low| low > limit)),
    ));
    cases
}

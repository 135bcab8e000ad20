//! Checks verdicts and intervals for unequal variances, many results, mixtures of two modes, and few trials.

use stats::{Blocks, Difference, Family, Fit, Level, ab, fit::BASELINE, noise};

use crate::{
    alarms::{FALSE_ALARMS, is_alarm, scaled},
    case::Case,
    coverage::holds,
    draws::{Draws, Shape},
};

/// Accepted coverage if variances are unequal. Welch's interval covers more if there are few values.
const COVERAGE: (f64, f64) = (0.93, 0.99);
/// Remaining fraction of a disturbed trial's value.
const LEFT: f64 = 1.0 / 3.0;

pub(crate) fn cases() -> Vec<Case> {
    [uneven(), many(), mixtures(), few()].into_iter().flatten().collect()
}

fn sample(draws: &mut Draws, n: usize, scatter: f64, disturbed: bool) -> Vec<f64> {
    if disturbed { draws.disturbed(n, scatter, LEFT) } else { draws.rates(n, Shape::Normal, scatter) }
}

/// Two runs, mostly with different trial counts and standard deviations (1 % times a factor).
fn uneven() -> Vec<Case> {
    let mut cases = Vec::new();
    let sizes = [(5, 5), (5, 30), (30, 5), (10, 30), (30, 10), (30, 30)];
    let factors = [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (10.0, 1.0), (1.0, 10.0)];
    for ((n, m), (wide, other)) in sizes.into_iter().flat_map(|size| factors.map(|factor| (size, factor))) {
        for disturbed in [false, true] {
            let data = format!(
                "{n} of {wide} %, {m} of {other} %{}",
                if disturbed { ", a tenth disturbed" } else { "" }
            );
            let draw = move |draws: &mut Draws, left: f64| {
                let a = sample(draws, n, 0.01 * wide, disturbed);
                (a, scaled(&sample(draws, m, 0.01 * other, disturbed), left))
            };
            cases.push(Case::new("unequal spread: interval", data.clone(), COVERAGE, move |draws| {
                let (a, b) = draw(draws, 1.0);
                holds(Level::of(&b)?.ratio(&Level::of(&a)?, ab::CONFIDENCE)?.interval, 1.0)
            }));
            cases.push(Case::new("unequal spread: false alarm", data.clone(), FALSE_ALARMS, move |draws| {
                let (a, b) = draw(draws, 1.0);
                Some(is_alarm(ab::judge(&a, &b, 0.0)?.difference))
            }));
            cases.push(Case::figure("unequal spread: -5 % found", data, move |draws| {
                let (a, b) = draw(draws, 0.95);
                Some(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference == Difference::Lower)
            }));
        }
    }
    cases
}

/// A run with a baseline and 20 results, with a standard deviation of 2 %. The first result is scaled by `ratio`.
fn run(draws: &mut Draws, blocks: usize, family: Family, ratio: f64) -> Option<Fit> {
    let of_blocks: Vec<f64> = (0..blocks).map(|_| (0.1 * draws.normal()).exp()).collect();
    let mut result = |ratio: f64| -> Blocks {
        let values = draws.rates(blocks, Shape::Normal, 0.02);
        (0..).zip(values.iter().zip(&of_blocks).map(|(value, block)| ratio * value * block)).collect()
    };
    let results: Vec<Blocks> = (0..21).map(|at| result(if at == 1 { ratio } else { 1.0 })).collect();
    Fit::of(&results, &result(1.0), family)
}

fn many() -> Vec<Case> {
    let mut cases = Vec::new();
    for blocks in [5, 10, 20] {
        let judged = |fit: &Fit, result: usize| Some(fit.judge(result, BASELINE, ab::CONFIDENCE)?.1);
        let data = format!("normal 2 % n={blocks}, 20 equal results");
        cases.push(Case::new(
            "many results: any false difference",
            data.clone(),
            FALSE_ALARMS,
            move |draws| {
                let fit = run(draws, blocks, Family::of(20), 1.0)?;
                Some((1..21).any(|result| judged(&fit, result).is_some_and(is_alarm)))
            },
        ));
        cases.push(Case::figure(
            "many results: any false difference, not widened",
            data.clone(),
            move |draws| {
                let fit = run(draws, blocks, Family::SINGLE, 1.0)?;
                Some((1..21).any(|result| judged(&fit, result).is_some_and(is_alarm)))
            },
        ));
        cases.push(Case::new("many results: one called within noise", data, (0.95, 1.0), move |draws| {
            Some(judged(&run(draws, blocks, Family::of(20), 1.0)?, 1)? == Difference::WithinNoise)
        }));
        for lost in [0.03, 0.05, 0.1] {
            let data = format!("normal 2 % n={blocks}, one of 20 results lost {:.0} %", 100.0 * lost);
            let wrong = "many results: called within noise, with a bound that excludes the loss";
            cases.push(Case::new(wrong, data.clone(), FALSE_ALARMS, move |draws| {
                let fit = run(draws, blocks, Family::of(20), 1.0 - lost)?;
                let (ratio, difference) = fit.judge(1, BASELINE, ab::CONFIDENCE)?;
                let is_inside = holds(ratio.interval, 1.0 - lost)?;
                Some(difference == Difference::WithinNoise && !is_inside)
            }));
            cases.push(Case::figure("many results: loss called within noise", data, move |draws| {
                let fit = run(draws, blocks, Family::of(20), 1.0 - lost)?;
                Some(judged(&fit, 1)? == Difference::WithinNoise)
            }));
        }
        let data = format!("normal 2 % n={blocks}, one of 20 results lost 20 %");
        let found = Case::new("many results: step found", data, (0.95, 1.0), move |draws| {
            Some(judged(&run(draws, blocks, Family::of(20), 0.8)?, 1)? == Difference::Lower)
        });
        cases.push(found.claimed_if(blocks >= 10));
    }
    cases
}

/// Values around 10, except for a fraction `share` around 20. The standard deviation is 2 %.
fn regimes(draws: &mut Draws, n: usize, share: f64, ratio: f64) -> Vec<f64> {
    let value = |_| {
        let level = if draws.chance(share) { 20.0 } else { 10.0 };
        ratio * level * (0.02 * draws.normal()).exp()
    };
    (0..n).map(value).collect()
}

fn mixtures() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, share) in [(10, 0.3), (20, 0.2), (40, 0.2)] {
        let judged = move |draws: &mut Draws| {
            let (a, b) = (regimes(draws, n, share, 1.0), regimes(draws, n, 1.0 - share, 0.95));
            ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)
        };
        let data = format!(
            "a share of {share} and then of {:.1} in the upper regime, each 5 % worse, n={n}",
            1.0 - share
        );
        cases.push(Case::new("mixture: called better", data.clone(), (0.0, 0.025), move |draws| {
            Some(judged(draws)?.difference == Difference::Higher)
        }));
        let named = Case::new("mixture: found", data, (0.75, 1.0), move |draws| {
            Some(judged(draws)?.mixture.is_some())
        });
        cases.push(named);
        let data = format!("one regime, normal 2 %, n={n}");
        cases.push(Case::new("mixture: found", data, FALSE_ALARMS, move |draws| {
            let mut sample = || draws.rates(n, Shape::Normal, 0.02);
            Some(ab::judge(&sample(), &sample(), noise::USUAL_BETWEEN_RUNS)?.mixture.is_some())
        }));
        let data = format!("both 30 % in the upper regime, n={n}");
        cases.push(Case::new("mixture: false alarm", data, FALSE_ALARMS, move |draws| {
            let (a, b) = (regimes(draws, n, 0.3, 1.0), regimes(draws, n, 0.3, 1.0));
            Some(is_alarm(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference))
        }));
    }
    cases
}

fn few() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, scatter) in [3, 4, 5, 10, 20].into_iter().flat_map(|n| [0.005, 0.01, 0.02].map(|it| (n, it))) {
        let judged = move |draws: &mut Draws, left: f64| {
            let mut level = || (0.007 * draws.normal()).exp();
            let (own, other) = (level(), left * level());
            let a = scaled(&draws.rates(n, Shape::Normal, scatter), own);
            let b = scaled(&draws.rates(n, Shape::Normal, scatter), other);
            Some(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference)
        };
        let data = format!("normal {:.1} % n={n}, runs 0.7 % difference, floor 2 %", 100.0 * scatter);
        let wrong = Case::new("same: called so for -5 %", data.clone(), (0.0, 1.0 / 60.0), move |draws| {
            Some(judged(draws, 0.95)? == Difference::WithinNoise)
        });
        // From five trials on, the equality bound is 8 %, so a loss of 5 % may count as equal.
        cases.push(wrong.claimed_if(n < 5));
        let equal = Case::new("same: called so for equals", data, (0.8, 1.0), move |draws| {
            Some(judged(draws, 1.0)? == Difference::WithinNoise)
        });
        cases.push(equal.claimed_if(n >= 10));
    }
    cases
}

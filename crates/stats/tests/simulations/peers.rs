//! False alarms and power of other tools' rules.

use statrs::distribution::{ContinuousCDF, StudentsT};
use stats::{Blocks, Difference, Family, Fit, ab, describe, fit::BASELINE, history, noise, permutation};

use crate::{
    alarms::{is_alarm, scaled},
    case::Case,
    draws::{Draws, Shape},
    nights,
};

const BENCHSTAT_ALPHA: f64 = 0.05;
/// Criterion's default significance level and noise threshold.
const CRITERION: (f64, f64) = (0.05, 0.01);
/// Firecracker's defaults (tools/ab_test.py at 81b38b9d): significance and noise threshold.
const FIRECRACKER: (f64, f64) = (0.01, 0.05);
const PERMUTATIONS: usize = 1000;

type Rule = fn(&Trials, &mut Draws) -> Option<Difference>;

/// Trials of two runs, or of a result, its baseline and repetitions of the baseline in one run.
struct Trials {
    a: Vec<f64>,
    again: Option<Vec<f64>>,
    b: Vec<f64>,
}

pub(crate) fn cases() -> Vec<Case> {
    let rules: [(&str, Rule); 4] = [
        ("peers: plumb", ours),
        ("peers: benchstat", benchstat),
        ("peers: criterion-like Welch interval", criterion),
        ("peers: Firecracker", firecracker),
    ];
    let mut cases = Vec::new();
    for (name, family) in FAMILIES {
        for (method, rule) in rules {
            let alarm = move |draws: &mut Draws| Some(is_alarm(rule(&family(draws, 1.0), draws)?));
            cases.push(Case::figure(method, format!("{name}, equal"), alarm));
            for lost in [0.05, 0.1] {
                let found = move |draws: &mut Draws| {
                    Some(rule(&family(draws, 1.0 - lost), draws)? == Difference::Lower)
                };
                cases.push(Case::figure(method, format!("{name}, {:.0} % lost", 100.0 * lost), found));
            }
        }
    }
    cases
}

type Draw = fn(&mut Draws, f64) -> Trials;

const FAMILIES: [(&str, Draw); 6] = [
    ("runs equal, normal 2 %, 10 and 10", |draws, left| runs(draws, 0.0, left, false)),
    ("runs differ by 0.7 %, normal 2 %, 10 and 10", |draws, left| runs(draws, 0.007, left, false)),
    ("runs differ by 1 %, normal 2 %, 10 and 10", |draws, left| runs(draws, 0.01, left, false)),
    ("runs differ by 0.7 %, a tenth slowed to a third, 10 and 10", |draws, left| {
        runs(draws, 0.007, left, true)
    }),
    ("runs equal, 5 of 10 % and 30 of 1 %", |draws, left| Trials {
        a: draws.rates(5, Shape::Normal, 0.1),
        again: None,
        b: scaled(&draws.rates(30, Shape::Normal, 0.01), left),
    }),
    ("one run, 10 blocks that differ by 5 %, normal 2 %", |draws, left| {
        let blocks: Vec<f64> = (0..10).map(|_| (0.05 * draws.normal()).exp()).collect();
        let mut result = |left: f64| -> Vec<f64> {
            let values = draws.rates(10, Shape::Normal, 0.02);
            values.iter().zip(&blocks).map(|(value, block)| left * value * block).collect()
        };
        Trials { a: result(1.0), again: Some(result(1.0)), b: result(left) }
    }),
];

fn runs(draws: &mut Draws, between: f64, left: f64, disturbed: bool) -> Trials {
    let mut run = |left: f64| {
        let level = left * (between * draws.normal()).exp();
        let trials = if disturbed {
            draws.disturbed(10, 0.02, 1.0 / 3.0)
        } else {
            draws.rates(10, Shape::Normal, 0.02)
        };
        scaled(&trials, level)
    };
    Trials { a: run(1.0), again: None, b: run(left) }
}

fn ours(trials: &Trials, _: &mut Draws) -> Option<Difference> {
    let Some(again) = &trials.again else {
        return Some(ab::judge(&trials.a, &trials.b, noise::USUAL_BETWEEN_RUNS)?.difference);
    };
    let blocks = |values: &[f64]| -> Blocks { (0..).zip(values.iter().copied()).collect() };
    let fit = Fit::of(&[blocks(&trials.a), blocks(&trials.b)], &blocks(again), Family::SINGLE)?;
    Some(fit.judge(1, BASELINE, ab::CONFIDENCE)?.1)
}

/// Families of nightly series: the number of nights before a loss, the remaining fraction, and the correlation.
const NIGHTS: [(usize, f64, f64); 6] =
    [(50, 1.0, 0.0), (50, 1.0, 0.5), (25, 0.95, 0.0), (45, 0.95, 0.0), (25, 0.92, 0.0), (45, 0.92, 0.5)];

/// Series for Otava, one per line: family, minimum number of values at which a detected change counts, and values.
pub(crate) fn nights(sets: usize, seed: u64) -> String {
    let mut draws = Draws::new(seed);
    let mut line = |(before, left, carry): (usize, f64, f64)| {
        let (after, first) = if left < 1.0 { (5, before + history::FEWEST) } else { (0, before) };
        let level = |at: usize| if at < before { 10.0 } else { 10.0 * left };
        let values = nights::runs(&mut draws, before + after, carry, level);
        let values: Vec<String> = values.iter().map(f64::to_string).collect();
        let lost = 100.0 * (1.0 - left);
        format!(
            "{lost:.0} % lost after {before} nights ({}),{first},{}\n",
            nights::named(carry),
            values.join(",")
        )
    };
    NIGHTS.iter().flat_map(|family| vec![*family; sets]).map(&mut line).collect()
}

fn changed(is_significant: bool, change: f64) -> Difference {
    match is_significant {
        true if change < 0.0 => Difference::Lower,
        true => Difference::Higher,
        false => Difference::Unclear,
    }
}

/// The U test of Mann and Whitney.
fn benchstat(trials: &Trials, _: &mut Draws) -> Option<Difference> {
    let p = permutation::two_sample(&trials.a, &trials.b)?.p;
    Some(changed(p < BENCHSTAT_ALPHA, describe::median(&trials.b)? - describe::median(&trials.a)?))
}

fn mean_change(a: &[f64], b: &[f64]) -> Option<f64> {
    Some(describe::mean(b)? / describe::mean(a)? - 1.0)
}

fn criterion(Trials { a, b, .. }: &Trials, _: &mut Draws) -> Option<Difference> {
    let error = |values: &[f64]| Some(describe::stddev(values)?.powi(2) / values.len() as f64);
    let (of_a, of_b) = (error(a)?, error(b)?);
    let freedom = (of_a + of_b).powi(2)
        / (of_a.powi(2) / (a.len() as f64 - 1.0) + of_b.powi(2) / (b.len() as f64 - 1.0));
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - CRITERION.0 / 2.0);
    let half = quantile * (of_a + of_b).sqrt() / describe::mean(a)?;
    let change = mean_change(a, b)?;
    Some(changed(change.abs() - half > CRITERION.1, change))
}

fn firecracker(Trials { a, b, .. }: &Trials, draws: &mut Draws) -> Option<Difference> {
    let change = mean_change(a, b)?;
    let distance = |a: &[f64], b: &[f64]| Some((describe::mean(b)? - describe::mean(a)?).abs());
    let observed = distance(a, b)?;
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut extreme = 1;
    for _ in 0..PERMUTATIONS {
        for at in 0..a.len() {
            let rest = all.len() - at;
            all.swap(at, at + (draws.uniform() * rest as f64) as usize);
        }
        let (left, right) = all.split_at(a.len());
        extreme += usize::from(distance(left, right)? >= observed - 1e-12);
    }
    let p = extreme as f64 / (PERMUTATIONS + 1) as f64;
    Some(changed(p < FIRECRACKER.0 && change.abs() > FIRECRACKER.1, change))
}

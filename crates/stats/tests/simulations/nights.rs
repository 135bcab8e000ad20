//! Checks shifts, drifts and predictions in series with one value per run.

use stats::{Course, history};

use crate::{
    case::Case,
    coverage::{ASKED, holds},
    draws::{Draws, Shape},
};

const SCATTER: f64 = 0.02;

pub(crate) fn cases() -> Vec<Case> {
    [steady(), shifted(), drifting(), predicted()].into_iter().flatten().collect()
}

pub(crate) fn runs(draws: &mut Draws, n: usize, carry: f64, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let noise = draws.series(n, Shape::Normal, carry);
    noise.iter().enumerate().map(|(at, error)| level(at) * (SCATTER * error).exp()).collect()
}

fn levels(values: &[f64]) -> Option<usize> {
    match history::course(values)? {
        Course::Levels(levels) => Some(levels.len()),
        Course::Drift { .. } => None,
    }
}

fn is_drift(values: &[f64]) -> bool {
    matches!(history::course(values), Some(Course::Drift { .. }))
}

pub(crate) fn named(carry: f64) -> String {
    if carry == 0.0 { "independent".to_owned() } else { format!("AR(1) {carry}") }
}

fn steady() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, carry, most) in [(20, 0.0, 0.005), (50, 0.0, 0.005), (50, 0.3, 0.01), (50, 0.5, 0.005)] {
        let data = format!("{n} runs, {}, 2 %", named(carry));
        cases.push(Case::new("history: false shift", data.clone(), (0.0, most), move |draws| {
            Some(levels(&runs(draws, n, carry, |_| 10.0)).is_some_and(|levels| levels > 1))
        }));
        let drift = move |draws: &mut Draws| Some(is_drift(&runs(draws, n, carry, |_| 10.0)));
        cases.push(if carry == 0.0 {
            Case::new("history: false drift", data, (0.0, 0.005), drift)
        } else {
            Case::figure("history: false drift", data, drift)
        });
    }
    cases
}

/// Checks that a loss is found within five runs.
fn shifted() -> Vec<Case> {
    let found = |before: usize, kept: f64, carry: f64| {
        move |draws: &mut Draws| {
            let values = runs(draws, before + 5, carry, |at| if at < before { 10.0 } else { 10.0 * kept });
            let seen = |after: usize| levels(&values[..before + after]).is_some_and(|levels| levels > 1);
            Some((history::FEWEST..=5).any(seen))
        }
    };
    let case = |before: usize, kept: f64, carry: f64, least: Option<f64>| {
        let lost = 100.0 * (1.0 - kept);
        let data = format!("{lost:.0} % lost after {before} runs, {}, 2 %", named(carry));
        let method = "history: loss found within five runs";
        let once = found(before, kept, carry);
        match least {
            Some(least) => Case::new(method, data, (least, 1.0), once),
            None => Case::figure(method, data, once),
        }
    };
    vec![
        case(15, 0.95, 0.0, None),
        case(25, 0.95, 0.0, Some(0.8)),
        case(35, 0.95, 0.0, Some(0.88)),
        case(45, 0.95, 0.0, Some(0.9)),
        case(25, 0.92, 0.0, Some(0.98)),
        case(45, 0.95, 0.5, None),
        case(45, 0.92, 0.5, None),
    ]
}

fn drifting() -> Vec<Case> {
    let case = |change: f64, least: f64| {
        let data = format!("{:.0} % over 40 runs, independent, 2 %", 100.0 * change);
        let slow = move |at: usize| 10.0 * (1.0 + change * at as f64 / 39.0);
        let found = Case::new("history: drift named", data.clone(), (least, 1.0), move |draws| {
            Some(is_drift(&runs(draws, 40, 0.0, slow)))
        });
        let shift = Case::new("history: drift called a shift", data, (0.0, 0.1), move |draws| {
            Some(levels(&runs(draws, 40, 0.0, slow)).is_some_and(|levels| levels > 1))
        });
        [found, shift]
    };
    [case(-0.1, 0.9), case(0.2, 0.9)].into_iter().flatten().collect()
}

fn predicted() -> Vec<Case> {
    let case = |n: usize| {
        Case::new("history: range of the next run", format!("{n} runs before, 2 %"), ASKED, move |draws| {
            let values = runs(draws, n + 1, 0.0, |_| 10.0);
            holds(history::next(&values[..n])?.range(0.95), values[n])
        })
    };
    [4, 10, 30].map(case).into()
}

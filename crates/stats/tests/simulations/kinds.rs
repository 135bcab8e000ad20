//! Measures how often changes within a series are classified correctly.

use stats::stationarity::{Stationarity, settled, stationarity};

use crate::{
    alarms::FALSE_ALARMS,
    case::Case,
    draws::{Draws, Shape},
};

/// Maximum fraction of series classified as the wrong kind of change.
const WRONG: (f64, f64) = (0.0, 0.1);
/// Time constant of a slow start, in values.
const TAU: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Steady,
    Drift,
    Jump,
    SlowStart,
    Stall,
}

#[derive(Clone, Copy)]
enum Change {
    /// A lasting jump by this ratio, after a third of the series.
    Jump(f64),
    /// Linear from 1 to this ratio.
    Drift(f64),
    /// Exponential approach from this ratio to 1.
    Start(f64),
    /// This many values without data, in the middle.
    Stall(usize),
}

impl Change {
    fn kind(self) -> Kind {
        match self {
            Self::Jump(_) => Kind::Jump,
            Self::Drift(_) => Kind::Drift,
            Self::Start(_) => Kind::SlowStart,
            Self::Stall(_) => Kind::Stall,
        }
    }

    fn name(self) -> String {
        let percent = |ratio: f64| format!("{:+.1} %", 100.0 * (ratio - 1.0));
        match self {
            Self::Jump(ratio) => format!("jump of {}", percent(ratio)),
            Self::Drift(ratio) => format!("drift of {}", percent(ratio)),
            Self::Start(ratio) => format!("start at {}", percent(ratio)),
            Self::Stall(values) => format!("stall of {values}"),
        }
    }

    fn at(self, index: usize, n: usize) -> f64 {
        match self {
            Self::Jump(ratio) if index >= n / 3 => ratio,
            Self::Drift(ratio) => 1.0 + (ratio - 1.0) * index as f64 / (n - 1) as f64,
            Self::Start(ratio) => 1.0 + (ratio - 1.0) * (-(index as f64) / TAU).exp(),
            Self::Stall(values) if (n / 2..n / 2 + values).contains(&index) => 0.0,
            _ => 1.0,
        }
    }
}

fn kind(values: &[f64]) -> Option<Kind> {
    Some(match stationarity(values)? {
        Stationarity::Steady => Kind::Steady,
        Stationarity::Drift { .. } => Kind::Drift,
        Stationarity::Levels(_) => Kind::Jump,
        Stationarity::SlowStart { .. } => Kind::SlowStart,
        Stationarity::Stall(_) => Kind::Stall,
        Stationarity::Unsteady { .. } => return None,
    })
}

fn series(draws: &mut Draws, n: usize, carry: f64, change: Change) -> Vec<f64> {
    let errors = draws.series(n, Shape::Normal, carry);
    errors.iter().enumerate().map(|(at, error)| 10.0 * change.at(at, n) * (1.0 + 0.02 * error)).collect()
}

pub(crate) fn cases() -> Vec<Case> {
    [changes(), starts()].into_iter().flatten().collect()
}

fn changes() -> Vec<Case> {
    let mut cases = Vec::new();
    let lengths = [30, 60, 120, 300].into_iter();
    for (n, carry) in lengths.flat_map(|n| [(n, 0.0), (n, 0.3)]) {
        for (change, least) in [
            // With 30 values, a jump of 2.5 standard deviations resembles a drift.
            (Change::Jump(1.05), None),
            (Change::Jump(0.95), None),
            (Change::Jump(1.08), Some(0.9)),
            (Change::Jump(0.92), Some(0.9)),
            (Change::Jump(1.105), Some(0.9)),
            (Change::Jump(0.905), Some(0.9)),
            (Change::Drift(1.1), Some(0.85)),
            (Change::Drift(0.8), Some(0.9)),
            (Change::Start(0.7), Some(0.9)),
            (Change::Start(1.3), Some(0.9)),
            (Change::Stall(3), Some(1.0)),
            (Change::Stall(12), Some(1.0)),
        ] {
            let data = format!("{}, 2 % AR(1) {carry} n={n}", change.name());
            let named =
                Case::new("kind of change: named", data.clone(), (least.unwrap_or(0.0), 1.0), move |draws| {
                    Some(kind(&series(draws, n, carry, change)) == Some(change.kind()))
                });
            cases.push(named.claimed_if(least.is_some() && (carry == 0.0 || n > 30)));
            let wrong = Case::new("kind of change: wrong", data, WRONG, move |draws| {
                let kind = kind(&series(draws, n, carry, change));
                Some(kind.is_some_and(|kind| kind != change.kind() && kind != Kind::Steady))
            });
            cases.push(wrong);
        }
    }
    cases
}

/// Checks that outliers in steady series are not classified as a slow start.
fn starts() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, scatter) in
        [20, 30, 60, 120].into_iter().flat_map(|n| [0.05, 0.15, 0.3].map(|scatter| (n, scatter)))
    {
        for (shape, carry) in
            [(Shape::Heavy, 0.0), (Shape::Heavy, 0.5), (Shape::Skewed, 0.0), (Shape::Normal, 0.8)]
        {
            let data = format!("{} {:.0} % AR(1) {carry} n={n}", shape.name(), 100.0 * scatter);
            cases.push(Case::new("settling: false alarm", data, FALSE_ALARMS, move |draws| {
                let errors = draws.series(n, shape, carry);
                let value = |error: &f64| 10.0 * (scatter * error).exp();
                Some(settled(&errors.iter().map(value).collect::<Vec<_>>()) > 0)
            }));
        }
    }
    for n in [30, 60, 120] {
        let data = format!("start at -30.0 %, 2 % n={n}");
        cases.push(Case::new("settling: found", data, (0.9, 1.0), move |draws| {
            Some(settled(&series(draws, n, 0.0, Change::Start(0.7))) > 0)
        }));
    }
    cases
}

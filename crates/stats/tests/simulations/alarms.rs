//! Error rates and power of verdicts on two samples.

use stats::{Difference, ab, interval, noise, permutation, sweep};

use crate::{
    case::Case,
    draws::{Draws, Shape},
};

pub(crate) const FALSE_ALARMS: (f64, f64) = (0.0, 0.05);

pub(crate) fn cases() -> Vec<Case> {
    [tests(), verdicts(), whole_floors(), sweeps(), pooled()].into_iter().flatten().collect()
}

pub(crate) fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|x| factor * x).collect()
}

fn run(draws: &mut Draws, n: usize, kind: Option<Shape>, scatter: f64, between: f64) -> Vec<f64> {
    let own = (between * draws.normal()).exp();
    let trials = match kind {
        Some(shape) => draws.rates(n, shape, scatter),
        None => draws.disturbed(n, scatter, 0.7),
    };
    scaled(&trials, own)
}

fn tests() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [5, 10, 40] {
        for shape in Shape::ALL {
            let data = format!("{} n={n}, no difference", shape.name());
            cases.push(Case::new("unpaired test: p <= 5 %", data, FALSE_ALARMS, move |draws| {
                let (a, b) = (draws.rates(n, shape, 0.03), draws.rates(n, shape, 0.03));
                Some(permutation::two_sample(&a, &b)?.p <= 0.05)
            }));
        }
    }
    cases
}

pub(crate) fn is_alarm(difference: Difference) -> bool {
    matches!(difference, Difference::Lower | Difference::Higher)
}

const KINDS: [(&str, Option<Shape>); 5] = [
    ("normal", Some(Shape::Normal)),
    ("log-normal", Some(Shape::Skewed)),
    ("heavy tails", Some(Shape::Heavy)),
    ("two humps", Some(Shape::TwoHumps)),
    ("disturbed", None),
];

/// Two runs of equal performance, with levels that vary by 0.7 % (floor 2 %), and two runs with a loss.
fn verdicts() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [5, 10, 30] {
        for (name, kind) in KINDS {
            let data = format!("{name} 2 % n={n}, runs 0.7 % difference, floor 2 %");
            let alarm = Case::new("A/B: false alarm", data, FALSE_ALARMS, move |draws| {
                let (a, b) = (run(draws, n, kind, 0.02, 0.007), run(draws, n, kind, 0.02, 0.007));
                Some(is_alarm(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference))
            });
            cases.push(alarm.claimed_if(kind != Some(Shape::TwoHumps)));
        }
        for (loss, least) in [(0.05, 0.8), (0.10, 0.95)] {
            let data =
                format!("normal 1 % n={n}, runs 0.7 % difference, floor 2 %, {:.0} % lost", 100.0 * loss);
            cases.push(Case::new("A/B: loss found", data, (least, 1.0), move |draws| {
                let a = run(draws, n, Some(Shape::Normal), 0.01, 0.007);
                let b = scaled(&run(draws, n, Some(Shape::Normal), 0.01, 0.007), 1.0 - loss);
                Some(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference == Difference::Lower)
            }));
        }
        let data = format!("normal 1 % n={n}, runs 0.7 % difference, floor 2 %");
        cases.push(Case::new("A/B: same within noise", data, (0.95, 1.0), move |draws| {
            let mut one = || run(draws, n, Some(Shape::Normal), 0.01, 0.007);
            Some(ab::judge(&one(), &one(), noise::USUAL_BETWEEN_RUNS)?.difference == Difference::WithinNoise)
        }));
    }
    cases
}

fn whole_floor(a: &[f64], b: &[f64]) -> Option<f64> {
    let reach = reach(a)?.max(reach(b)?);
    Some(noise::USUAL_BETWEEN_RUNS.hypot(reach))
}

fn reach(values: &[f64]) -> Option<f64> {
    interval::median_estimate(values, 0.75)?.reach()
}

fn whole_floors() -> Vec<Case> {
    let judged = |draws: &mut Draws, n: usize, kind: Option<Shape>, between: f64, kept: f64| {
        let a = run(draws, n, kind, 0.02, between);
        let b = scaled(&run(draws, n, kind, 0.02, between), kept);
        let of = |floor: f64| Some(ab::judge(&a, &b, floor)?.difference);
        Some((of(whole_floor(&a, &b)?)?, of(noise::USUAL_BETWEEN_RUNS)?))
    };
    let mut cases = Vec::new();
    for n in [3, 4, 5, 6, 8, 10, 15, 20] {
        for (name, kind) in KINDS {
            let own = move |between: f64| {
                move |draws: &mut Draws| Some(is_alarm(judged(draws, n, kind, between, 1.0)?.0))
            };
            let data = |between| {
                format!("{name} 2 % n={n}, runs {between} % difference, floor with the trials' reach")
            };
            cases.push(Case::new("A/B: false alarm", data("0.7"), FALSE_ALARMS, own(0.007)));
            cases.push(Case::figure("A/B: false alarm", data("1"), own(0.01)));
            let data = format!("{name} 2 % n={n}, runs 0.7 % difference, imported");
            let imported = Case::new("A/B: false alarm", data, FALSE_ALARMS, move |draws| {
                Some(is_alarm(judged(draws, n, kind, 0.007, 1.0)?.1))
            });
            // A few values may all come from one mode.
            cases.push(imported.claimed_if(kind != Some(Shape::TwoHumps)));
        }
        for lost in [0.01, 0.02, 0.03, 0.05, 0.07, 0.1] {
            let data = |whose: &str| {
                format!("normal 2 % n={n}, runs 0.7 % difference, {whose}, {:.0} % lost", 100.0 * lost)
            };
            let found = move |draws: &mut Draws| {
                let (own, imported) = judged(draws, n, Some(Shape::Normal), 0.007, 1.0 - lost)?;
                Some((own == Difference::Lower, imported == Difference::Lower))
            };
            let case = |whose: &str, once: fn((bool, bool)) -> bool| {
                let once = move |draws: &mut Draws| Some(once(found(draws)?));
                if (n >= 5 && lost >= 0.1) || (n >= 20 && lost >= 0.05) {
                    Case::new("A/B: loss found", data(whose), (0.8, 1.0), once)
                } else {
                    Case::figure("A/B: loss found", data(whose), once)
                }
            };
            cases.push(case("floor with the trials' reach", |found| found.0));
            cases.push(case("imported", |found| found.1));
        }
    }
    cases
}

type Chances = fn(&[sweep::Cell<'_>]) -> Vec<Option<f64>>;

fn sweeps() -> Vec<Case> {
    let once = |n: usize, chances: Chances| {
        move |draws: &mut Draws| {
            let mut one = || draws.rates(n, Shape::Normal, 0.02);
            let runs: Vec<[Vec<f64>; 2]> = (0..20).map(|_| [one(), one()]).collect();
            let cells: Vec<sweep::Cell<'_>> =
                runs.iter().map(|[a, b]| sweep::Cell { a, b, group: 0 }).collect();
            let p: Option<Vec<f64>> = chances(&cells).into_iter().collect();
            let alarm = |(cell, p): (&sweep::Cell<'_>, f64)| {
                Some(is_alarm(ab::difference(&ab::judge(cell.a, cell.b, 0.0)?.ratio, p, 0.0)))
            };
            cells.iter().zip(p?).map(alarm).try_fold(false, |any, alarm| Some(any | alarm?))
        }
    };
    let ranks: Chances =
        |cells| cells.iter().map(|cell| Some(permutation::two_sample(cell.a, cell.b)?.p)).collect();
    let kinds: [(&str, Chances, (f64, f64)); 2] =
        [("as compared", sweep::p, FALSE_ALARMS), ("ranks, not adjusted", ranks, (0.4, 0.8))];
    let case = |n: usize, (by, chances, claim): (&str, Chances, (f64, f64))| {
        let data = format!("normal 2 % n={n}, 20 cells, floor 0, {by}");
        Case::new("A/B: any alarm in a sweep", data, claim, once(n, chances))
    };
    [8, 10].into_iter().flat_map(|n| kinds.map(|kind| case(n, kind))).collect()
}

fn pooled() -> Vec<Case> {
    let judged = |draws: &mut Draws, n: usize, shape: Shape, scatter: f64, kept: f64| {
        let runs: Vec<[Vec<f64>; 2]> = (0..20)
            .map(|cell| {
                let (a, b) = (draws.rates(n, shape, scatter), draws.rates(n, shape, scatter));
                [a, scaled(&b, if cell == 0 { kept } else { 1.0 })]
            })
            .collect();
        let cells: Vec<sweep::Cell<'_>> = runs.iter().map(|[a, b]| sweep::Cell { a, b, group: 0 }).collect();
        sweep::p(&cells).into_iter().collect::<Option<Vec<f64>>>()
    };
    let mut cases = Vec::new();
    for n in [5, 10] {
        for shape in Shape::ALL {
            let data = format!("{} 2 % n={n}, 20 cells", shape.name());
            cases.push(Case::new("sweep: any p <= 5 %", data, FALSE_ALARMS, move |draws| {
                Some(judged(draws, n, shape, 0.02, 1.0)?.iter().any(|p| *p <= ab::MOST_P))
            }));
        }
        for (scatter, kept) in [(0.005, 0.9), (0.02, 0.5)] {
            let lost = 100.0 * (1.0 - kept);
            let data = format!("normal {:.1} % n={n}, 20 cells, one lost {lost:.0} %", 100.0 * scatter);
            cases.push(Case::new("sweep: the loss's p <= 5 %", data, (0.95, 1.0), move |draws| {
                Some(judged(draws, n, Shape::Normal, scatter, kept)?[0] <= ab::MOST_P)
            }));
        }
    }
    cases
}

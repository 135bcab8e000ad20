//! Error rates of comparisons that use earlier runs, when runs vary more than the trials within each run.

use stats::{BetweenRuns, Difference, ab, describe, multiple, noise, sweep};

use crate::{
    alarms::{FALSE_ALARMS, is_alarm, scaled},
    case::Case,
    draws::{Draws, Shape},
};

type OfRun = fn(&mut Draws) -> f64;

pub(crate) fn cases() -> Vec<Case> {
    [alarms(), figures(), changed(), sweeps(), assumed_in_sweeps(), assumed()].into_iter().flatten().collect()
}

fn history(
    draws: &mut Draws,
    known: usize,
    scatter: f64,
    of_run: OfRun,
) -> Option<(BetweenRuns, Vec<Vec<f64>>)> {
    let mut runs = Vec::new();
    for _ in 0..=known {
        let own = of_run(draws).exp();
        runs.push(scaled(&draws.rates(10, Shape::Normal, scatter), own));
    }
    Some((learned(&runs[..known])?, runs))
}

fn learned(runs: &[Vec<f64>]) -> Option<BetweenRuns> {
    let medians: Option<Vec<f64>> = runs.iter().map(|trials| describe::median(trials)).collect();
    noise::between_runs(&medians?, ab::CONFIDENCE)
}

fn judged(a: &[f64], b: &[f64], runs: &BetweenRuns) -> Option<Difference> {
    let floor = runs.relative.max(noise::USUAL_BETWEEN_RUNS);
    let trials = ab::judge(a, b, floor)?;
    Some(ab::difference(&trials.ratio, trials.p.max(runs.p(trials.ratio.value)), floor))
}

fn normal(draws: &mut Draws) -> f64 {
    0.03 * draws.normal()
}

fn heavy(draws: &mut Draws) -> f64 {
    0.03 * draws.error(Shape::Heavy)
}

fn two_humps(draws: &mut Draws) -> f64 {
    0.03 * draws.error(Shape::TwoHumps)
}

fn alarms() -> Vec<Case> {
    let mut cases = Vec::new();
    for known in 4..=10 {
        for scatter in [0.0001, 0.02] {
            let data = format!("normal {:.2} %, runs 3 % difference, {known} runs known", 100.0 * scatter);
            cases.push(Case::new("between runs: false alarm", data.clone(), FALSE_ALARMS, move |draws| {
                let (learned, runs) = history(draws, known, scatter, normal)?;
                Some(is_alarm(judged(&runs[known - 1], &runs[known], &learned)?))
            }));
        }
        let data = format!("runs 3 % difference, {known} runs known");
        cases.push(Case::new("between runs: the next beyond the noise", data, FALSE_ALARMS, move |draws| {
            let (learned, runs) = history(draws, known, 0.0001, normal)?;
            Some((runs[known][0] / runs[known - 1][0]).ln().abs() > learned.relative.ln_1p())
        }));
    }
    cases
}

/// Cases without claims, because the method assumes normal values.
fn figures() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, of_run) in [("heavy tails", heavy as OfRun), ("two humps", two_humps)] {
        for known in [4, 6, 10] {
            let data = format!("normal 0.01 %, runs with {name}, {known} runs known");
            let once = move |draws: &mut Draws| {
                let (learned, runs) = history(draws, known, 0.0001, of_run)?;
                Some(is_alarm(judged(&runs[known - 1], &runs[known], &learned)?))
            };
            cases.push(Case::figure("between runs: false alarm", data, once).answering(0.99));
        }
    }
    cases
}

fn changed() -> Vec<Case> {
    let one = |higher: usize| {
        move |draws: &mut Draws| {
            let mut runs = Vec::new();
            for at in 0..11 {
                let own = (0.005 * draws.normal()).exp();
                let level = if at < higher { 1.1 } else { 1.0 };
                runs.push(scaled(&draws.rates(10, Shape::Normal, 0.01), level * own));
            }
            let lost = scaled(&runs[10], 0.95);
            Some(judged(&runs[9], &lost, &learned(&runs[..10])?)? == Difference::Lower)
        }
    };
    let data =
        |higher| format!("normal 1 %, runs 0.5 % difference, 5 % lost, {higher} of 10 known a tenth higher");
    let found = "between runs: loss found";
    let claimed = [0, 5].map(|higher| Case::new(found, data(higher), (0.85, 1.0), one(higher)));
    // A level that only run A has reached does not count yet.
    claimed.into_iter().chain([Case::figure(found, data(9), one(9))]).collect()
}

fn sweeps() -> Vec<Case> {
    let one = |known: usize| {
        move |draws: &mut Draws| {
            let cells: Option<Vec<_>> = (0..20).map(|_| history(draws, known, 0.0001, normal)).collect();
            let cells = cells?;
            let ratio = |runs: &[Vec<f64>]| Some(ab::judge(&runs[known - 1], &runs[known], 0.0)?.ratio);
            let ratios: Option<Vec<_>> = cells.iter().map(|(_, runs)| ratio(runs)).collect();
            let ratios = ratios?;
            let p: Vec<f64> =
                cells.iter().zip(&ratios).map(|((learned, _), ratio)| learned.p(ratio.value)).collect();
            let adjusted = multiple::benjamini_hochberg(&p)?;
            let alarm = |((cell, ratio), p): ((&(BetweenRuns, _), &_), &f64)| {
                is_alarm(ab::difference(ratio, *p, cell.0.relative))
            };
            Some(cells.iter().zip(&ratios).zip(&adjusted).any(alarm))
        }
    };
    let case = |known: usize| {
        let data = format!("normal 0.01 %, runs 3 % difference, 20 cells, {known} runs known");
        Case::new("between runs: any alarm in a sweep", data, FALSE_ALARMS, one(known))
    };
    [4, 10].map(case).into_iter().collect()
}

fn assumed_in_sweeps() -> Vec<Case> {
    let case = |n: usize| {
        let data = format!("normal 2 % n={n}, runs 0.7 % difference, 20 cells, floor 2 %");
        Case::new("A/B: any alarm in a sweep", data, FALSE_ALARMS, move |draws| {
            let mut run = || scaled(&draws.rates(n, Shape::Normal, 0.02), (0.007 * draws.normal()).exp());
            let runs: Vec<[Vec<f64>; 2]> = (0..20).map(|_| [run(), run()]).collect();
            let floor = noise::USUAL_BETWEEN_RUNS;
            let cells: Vec<sweep::Cell<'_>> =
                runs.iter().map(|[a, b]| sweep::Cell { a, b, group: 0 }).collect();
            let judged: Option<Vec<_>> = cells.iter().map(|cell| ab::judge(cell.a, cell.b, floor)).collect();
            let judged = judged?;
            let of_runs: Option<Vec<f64>> = judged.iter().map(|it| ab::chance(&it.ratio, floor)).collect();
            let of_runs = multiple::benjamini_hochberg(&of_runs?)?;
            let of_trials: Option<Vec<f64>> = sweep::p(&cells).into_iter().collect();
            let mut cells = judged.iter().zip(of_runs.iter().zip(of_trials?));
            Some(cells.any(|(it, (runs, trials))| is_alarm(it.judged(runs.max(trials), floor))))
        })
    };
    [5, 10, 30].map(case).into()
}

fn assumed() -> Vec<Case> {
    let data = "normal 2 % n=10, runs 3 % difference, floor 2 % (too low)";
    vec![Case::new("A/B: false alarm", data, (0.45, 0.65), move |draws| {
        let (_, runs) = history(draws, 4, 0.02, normal)?;
        Some(is_alarm(ab::judge(&runs[3], &runs[4], noise::USUAL_BETWEEN_RUNS)?.difference))
    })]
}

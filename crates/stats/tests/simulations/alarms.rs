//! How often verdicts are wrong, and how often they find what is there. Knows no interval by itself.

use stats::{Difference, ab, bimodal, curve, interval, levels, multiple, noise, permutation, warmup};

use crate::{
    case::Case,
    draws::{Draws, Shape},
};

const FALSE_ALARMS: (f64, f64) = (0.0, 0.05);

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    [tests(), verdicts(), between_runs(), sweeps(), stopping(), shapes(), jumps(), warm_ups(), knees()]
        .into_iter()
        .flatten()
        .collect()
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|x| factor * x).collect()
}

/// Trials of a run: what the run has in common with itself, and what its trials scatter by.
fn run(draws: &mut Draws, n: usize, kind: Option<Shape>, scatter: f64, between: f64) -> Vec<f64> {
    let own = (between * draws.normal()).exp();
    let trials = match kind {
        Some(shape) => draws.rates(n, shape, scatter),
        None => draws.disturbed(n, scatter),
    };
    scaled(&trials, own)
}

fn tests() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [5, 10, 40] {
        for shape in Shape::ALL {
            let data = format!("{} n={n}, no difference", shape.name());
            cases.push(Case::new("unpaired test: p <= 5 %", data.clone(), FALSE_ALARMS, move |draws| {
                let (a, b) = (draws.rates(n, shape, 0.03), draws.rates(n, shape, 0.03));
                Some(permutation::two_sample(&a, &b)?.p <= 0.05)
            }));
            cases.push(Case::new("paired test: p <= 5 %", data, FALSE_ALARMS, move |draws| {
                let pairs: Vec<(f64, f64)> = (0..n)
                    .map(|_| (draws.rates(1, shape, 0.03)[0].ln(), draws.rates(1, shape, 0.03)[0].ln()))
                    .collect();
                Some(permutation::paired(&pairs)?.p <= 0.05)
            }));
        }
    }
    cases
}

fn is_alarm(difference: Difference) -> bool {
    matches!(difference, Difference::Lower | Difference::Higher)
}

const KINDS: [(&str, Option<Shape>); 5] = [
    ("normal", Some(Shape::Normal)),
    ("log-normal", Some(Shape::Skewed)),
    ("heavy tails", Some(Shape::Heavy)),
    ("two humps", Some(Shape::TwoHumps)),
    ("disturbed", None),
];

/// Two runs of one thing whose levels scatter by 0.7 %, as the floor of 2 % stands for; and with a loss.
fn verdicts() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [5, 10, 30] {
        for (name, kind) in KINDS {
            let data = format!("{name} 2 % n={n}, runs 0.7 % apart, floor 2 %");
            cases.push(Case::new("A/B: false alarm", data, FALSE_ALARMS, move |draws| {
                let (a, b) = (run(draws, n, kind, 0.02, 0.007), run(draws, n, kind, 0.02, 0.007));
                Some(is_alarm(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference))
            }));
        }
        for (loss, least) in [(0.05, 0.8), (0.10, 0.95)] {
            let data = format!("normal 1 % n={n}, runs 0.7 % apart, floor 2 %, {:.0} % lost", 100.0 * loss);
            cases.push(Case::new("A/B: loss found", data, (least, 1.0), move |draws| {
                let a = run(draws, n, Some(Shape::Normal), 0.01, 0.007);
                let b = scaled(&run(draws, n, Some(Shape::Normal), 0.01, 0.007), 1.0 - loss);
                Some(ab::judge(&a, &b, noise::USUAL_BETWEEN_RUNS)?.difference == Difference::Lower)
            }));
        }
        let data = format!("normal 1 % n={n}, runs 0.7 % apart, floor 2 %");
        cases.push(Case::new("A/B: same within noise", data, (0.95, 1.0), move |draws| {
            let mut one = || run(draws, n, Some(Shape::Normal), 0.01, 0.007);
            Some(ab::judge(&one(), &one(), noise::USUAL_BETWEEN_RUNS)?.difference == Difference::WithinNoise)
        }));
    }
    cases
}

/// Runs that are farther apart, with a floor from several of them; and what happens without one.
fn between_runs() -> Vec<Case> {
    let mut cases = Vec::new();
    for runs in [3, 5, 8] {
        let data = format!("normal 2 % n=10, runs 3 % apart, floor of {runs} runs");
        cases.push(Case::new("A/B: false alarm", data, FALSE_ALARMS, move |draws| {
            let trials: Vec<Vec<f64>> =
                (0..=runs).map(|_| run(draws, 10, Some(Shape::Normal), 0.02, 0.03)).collect();
            let medians: Option<Vec<f64>> =
                trials[..runs].iter().map(|t| stats::describe::median(t)).collect();
            let floor = noise::between_runs(&medians?, 0.95, noise::USUAL_BETWEEN_RUNS)?;
            Some(is_alarm(ab::judge(&trials[0], &trials[runs], floor)?.difference))
        }));
    }
    let data = "normal 2 % n=10, runs 3 % apart, floor 2 % (too low)";
    cases.push(Case::new("A/B: false alarm", data, (0.0, 1.0), move |draws| {
        let mut one = || run(draws, 10, Some(Shape::Normal), 0.02, 0.03);
        Some(is_alarm(ab::judge(&one(), &one(), noise::USUAL_BETWEEN_RUNS)?.difference))
    }));
    cases
}

/// Twenty cells at once, corrected by Holm's method: any alarm in a sweep of equals counts.
fn sweeps() -> Vec<Case> {
    let once = |n: usize| {
        move |draws: &mut Draws| {
            let mut one = || draws.rates(n, Shape::Normal, 0.02);
            let judged: Option<Vec<ab::Judged>> = (0..20).map(|_| ab::judge(&one(), &one(), 0.0)).collect();
            let judged = judged?;
            let p = multiple::holm(&judged.iter().map(|cell| cell.p).collect::<Vec<_>>())?;
            Some(judged.iter().zip(p).any(|(cell, p)| is_alarm(ab::difference(&cell.ratio, p, 0.0))))
        }
    };
    let data = |n: usize| format!("normal 2 % n={n}, 20 cells, floor 0");
    [8, 10].map(|n| Case::new("A/B: any alarm in a sweep", data(n), FALSE_ALARMS, once(n))).into()
}

/// Trials until the median is known well enough: what the interval at the stop holds.
fn stopping() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in Shape::ALL {
        for (precision, scatter) in [(0.02, 0.03), (0.01, 0.03)] {
            let data = format!("{} 3 %, to {:.0} %, 6 to 60 trials", shape.name(), 100.0 * precision);
            cases.push(Case::new("stopping: interval holds", data, (0.92, 0.98), move |draws| {
                let mut values = draws.rates(5, shape, scatter);
                while values.len() < 60
                    && interval::reach(&values, 0.95).is_none_or(|reach| reach > precision)
                {
                    values.extend(draws.rates(1, shape, scatter));
                }
                let truth = 10.0 * (scatter * shape.median()).exp();
                Some(interval::median_interval(&values, 0.95)?.contains(truth))
            }));
        }
    }
    cases
}

fn shapes() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [8, 20, 60] {
        for shape in [Shape::Normal, Shape::Skewed] {
            let data = format!("{} n={n}", shape.name());
            cases.push(Case::new("bimodal: false alarm", data, FALSE_ALARMS, move |draws| {
                let values: Vec<f64> = (0..n).map(|_| draws.error(shape)).collect();
                Some(bimodal::two_levels(&values).is_some())
            }));
        }
        let data = format!("humps ten deviations apart n={n}");
        cases.push(Case::new("bimodal: found", data, (if n < 20 { 0.0 } else { 0.95 }, 1.0), move |draws| {
            let values: Vec<f64> = (0..n).map(|_| draws.error(Shape::TwoHumps)).collect();
            Some(bimodal::two_levels(&values).is_some())
        }));
    }
    cases
}

const CHAINS: [(Shape, f64); 5] = [
    (Shape::Normal, 0.0),
    (Shape::Normal, 0.3),
    (Shape::Normal, 0.6),
    (Shape::Skewed, 0.3),
    (Shape::Heavy, 0.0),
];

fn steady(draws: &mut Draws, n: usize, shape: Shape, carry: f64, scatter: f64) -> Vec<f64> {
    let errors = draws.series(n, shape, carry);
    errors.iter().map(|x| 10.0 * (1.0 + scatter * (x - shape.mean_in_time()))).collect()
}

fn jumps() -> Vec<Case> {
    let mut cases = Vec::new();
    for (shape, carry) in CHAINS {
        for n in [20, 30, 100, 300] {
            for scatter in [0.05, 0.15] {
                let data = format!("{} {:.0} % AR(1) {carry} n={n}", shape.name(), 100.0 * scatter);
                cases.push(Case::new("level shift: false alarm", data, FALSE_ALARMS, move |draws| {
                    Some(levels::levels(&steady(draws, n, shape, carry, scatter))?.len() > 1)
                }));
            }
            let data = format!("{} 5 % AR(1) {carry} n={n}", shape.name());
            let least = if n >= 100 { 0.9 } else { 0.0 };
            cases.push(Case::new("level shift of 30 %: placed to 1", data, (least, 1.0), move |draws| {
                let mut values = steady(draws, n, shape, carry, 0.05);
                values.iter_mut().skip(n / 3).for_each(|x| *x *= 1.3);
                let found = levels::levels(&values)?;
                Some(found.len() == 2 && found[1].start.abs_diff(n / 3) <= 1)
            }));
        }
    }
    cases
}

fn warm_ups() -> Vec<Case> {
    let mut cases = Vec::new();
    for (shape, carry) in CHAINS {
        for n in [20, 100] {
            let data = format!("{} 5 % AR(1) {carry} n={n}", shape.name());
            cases.push(Case::new("warm-up: false cut", data.clone(), FALSE_ALARMS, move |draws| {
                Some(warmup::cut(&steady(draws, n, shape, carry, 0.05)) > 0)
            }));
            cases.push(Case::new("warm-up 0.1, 0.3, 0.6: cut at 3", data, (0.0, 1.0), move |draws| {
                let mut values = steady(draws, n, shape, carry, 0.05);
                values.iter_mut().zip([0.1, 0.3, 0.6]).for_each(|(x, share)| *x *= share);
                Some(warmup::cut(&values) == 3)
            }));
        }
    }
    cases
}

/// Curves by queues, in Gbit/s, with the knee that they have by the definition, and where they fall.
const CURVES: [(&str, &[f64], usize, Option<usize>); 4] = [
    ("sharp", &[20.0, 40.0, 60.0, 80.0, 80.0, 80.0, 80.0], 3, None),
    ("round", &[28.0, 40.0, 56.0, 67.0, 75.0, 77.0, 78.0], 4, None),
    ("rises to its end", &[10.0, 20.0, 40.0, 80.0], 3, None),
    ("falls again", &[30.0, 60.0, 80.0, 80.0, 79.0, 65.0, 50.0], 2, Some(5)),
];

fn knees() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, curve, knee, falls) in CURVES {
        for n in [1, 5] {
            let draw = move |draws: &mut Draws| -> Option<curve::Plateau> {
                let levels: Vec<Vec<f64>> = curve
                    .iter()
                    .map(|level| scaled(&draws.rates(n, Shape::Normal, 0.03), level / 10.0))
                    .collect();
                curve::plateau(&levels)
            };
            let data = format!("{name} 3 % n={n}");
            cases.push(Case::new("knee: plausible holds it", data.clone(), (0.93, 1.0), move |draws| {
                Some(draw(draws)?.plausible.contains(&knee))
            }));
            cases.push(Case::new("knee: placed exactly", data.clone(), (0.0, 1.0), move |draws| {
                Some(draw(draws)?.index == knee)
            }));
            if falls.is_none() {
                cases.push(Case::new("knee: false fall", data, FALSE_ALARMS, move |draws| {
                    Some(draw(draws)?.falls_at.is_some())
                }));
            }
        }
    }
    cases
}

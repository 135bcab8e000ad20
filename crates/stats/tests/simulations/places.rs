//! Measures the rates of true and false detections of jumps, modes and knees.

use stats::{
    bimodal, curve,
    stationarity::{Stationarity, stationarity},
    warmup,
};

use crate::{
    alarms::{FALSE_ALARMS, scaled},
    case::Case,
    draws::{Draws, Shape},
};

pub(crate) fn cases() -> Vec<Case> {
    [shapes(), jumps(), drifts(), warm_ups(), knees()].into_iter().flatten().collect()
}

fn shapes() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [8, 20, 60] {
        for shape in [Shape::Normal, Shape::Skewed] {
            let data = format!("{} n={n}", shape.name());
            cases.push(Case::new("bimodal: false alarm", data, FALSE_ALARMS, move |draws| {
                let values: Vec<f64> = (0..n).map(|_| draws.error(shape)).collect();
                Some(bimodal::bimodal(&values).is_some())
            }));
        }
        let data = format!("modes ten deviations from each other n={n}");
        cases.push(Case::new("bimodal: found", data, (if n < 20 { 0.5 } else { 0.95 }, 1.0), move |draws| {
            let values: Vec<f64> = (0..n).map(|_| draws.error(Shape::TwoHumps)).collect();
            Some(bimodal::bimodal(&values).is_some())
        }));
    }
    for n in [5, 8, 20] {
        let data = format!("{n} trials of three intervals, an eighth of a trial's deviation between them");
        cases.push(Case::new("bimodal: false alarm", data, FALSE_ALARMS, move |draws| {
            let mut error = || draws.error(Shape::Normal);
            let mut trial = || {
                let level = error();
                (0..3).map(|_| level + error() / 8.0).collect()
            };
            let trials: Vec<Vec<f64>> = (0..n).map(|_| trial()).collect();
            Some(bimodal::bimodal_within(&trials).is_some())
        }));
    }
    cases
}

struct Chain {
    shape: Shape,
    carry: f64,
    jumps: [(usize, f64); 4],
    warm_ups: [(usize, f64); 2],
}

const CHAINS: [Chain; 6] = [
    chain(Shape::Normal, 0.0, [0.5, 0.8, 0.95, 0.95], [0.8, 0.95]),
    chain(Shape::Normal, 0.3, [0.4, 0.8, 0.95, 0.95], [0.85, 0.9]),
    chain(Shape::Normal, 0.6, [0.7, 0.9, 0.95, 0.95], [0.85, 0.9]),
    // In short series, the estimated autocorrelation is inaccurate, so more of these waves are classified as unsteady.
    chain(Shape::Normal, 0.8, [0.5, 0.6, 0.7, 0.8], [0.5, 0.5]),
    chain(Shape::Skewed, 0.3, [0.95, 0.95, 0.95, 0.95], [0.95, 0.95]),
    chain(Shape::Heavy, 0.0, [0.25, 0.6, 0.95, 0.95], [0.55, 0.8]),
];

const fn chain(shape: Shape, carry: f64, placed: [f64; 4], cut: [f64; 2]) -> Chain {
    let jumps = [(20, placed[0]), (30, placed[1]), (100, placed[2]), (300, placed[3])];
    Chain { shape, carry, jumps, warm_ups: [(20, cut[0]), (100, cut[1])] }
}

fn steady(draws: &mut Draws, n: usize, shape: Shape, carry: f64, scatter: f64) -> Vec<f64> {
    let errors = draws.series(n, shape, carry);
    errors.iter().map(|x| 10.0 * (1.0 + scatter * (x - shape.mean_in_time()))).collect()
}

fn jumps() -> Vec<Case> {
    let mut cases = Vec::new();
    for Chain { shape, carry, jumps, .. } in CHAINS {
        for (n, least) in jumps {
            for scatter in [0.05, 0.15] {
                let data = format!("{} {:.0} % AR(1) {carry} n={n}", shape.name(), 100.0 * scatter);
                cases.push(Case::new("level shift: false alarm", data, FALSE_ALARMS, move |draws| {
                    Some(matches!(
                        stationarity(&steady(draws, n, shape, carry, scatter))?,
                        Stationarity::Levels(_)
                    ))
                }));
                let data = format!("{} {:.0} % AR(1) {carry} n={n}", shape.name(), 100.0 * scatter);
                cases.push(Case::new("drift: false alarm", data, FALSE_ALARMS, move |draws| {
                    Some(matches!(
                        stationarity(&steady(draws, n, shape, carry, scatter))?,
                        Stationarity::Drift { .. }
                    ))
                }));
            }
            let data = format!("{} 5 % AR(1) {carry} n={n}", shape.name());
            cases.push(Case::new("level shift of 30 %: placed to 1", data, (least, 1.0), move |draws| {
                let mut values = steady(draws, n, shape, carry, 0.05);
                values.iter_mut().skip(n / 3).for_each(|x| *x *= 1.3);
                let Stationarity::Levels(found) = stationarity(&values)? else { return Some(false) };
                Some(found.len() == 2 && found[1].start.abs_diff(n / 3) <= 1)
            }));
        }
    }
    cases
}

fn drifts() -> Vec<Case> {
    let mut cases = Vec::new();
    for (change, scatter, n, least) in [
        (0.1, 0.02, 20, 0.85),
        (0.1, 0.02, 60, 0.95),
        (0.2, 0.02, 60, 0.95),
        (0.2, 0.05, 60, 0.9),
        (0.2, 0.05, 300, 0.95),
    ] {
        let of = move |draws: &mut Draws| {
            let mut values = steady(draws, n, Shape::Normal, 0.0, scatter);
            values.iter_mut().enumerate().for_each(|(at, x)| *x *= 1.0 - change * at as f64 / n as f64);
            stationarity(&values)
        };
        let data = format!("-{:.0} %, noise {:.0} %, n={n}", 100.0 * change, 100.0 * scatter);
        cases.push(Case::new("drift: found", data.clone(), (least, 1.0), move |draws| {
            Some(matches!(of(draws)?, Stationarity::Drift { .. }))
        }));
        cases.push(Case::new("drift: reported as a jump", data, FALSE_ALARMS, move |draws| {
            Some(matches!(of(draws)?, Stationarity::Levels(_)))
        }));
    }
    cases
}

fn warm_ups() -> Vec<Case> {
    let mut cases = Vec::new();
    for Chain { shape, carry, warm_ups, .. } in CHAINS {
        for (n, least) in warm_ups {
            let data = format!("{} 5 % AR(1) {carry} n={n}", shape.name());
            cases.push(Case::new("warm-up: false cut", data.clone(), FALSE_ALARMS, move |draws| {
                Some(warmup::cut(&steady(draws, n, shape, carry, 0.05)) > 0)
            }));
            cases.push(Case::new("warm-up 0.1, 0.3, 0.6: cut at 3", data, (least, 1.0), move |draws| {
                let mut values = steady(draws, n, shape, carry, 0.05);
                values.iter_mut().zip([0.1, 0.3, 0.6]).for_each(|(x, share)| *x *= share);
                Some(warmup::cut(&values) == 3)
            }));
        }
    }
    cases
}

struct Curve {
    name: &'static str,
    levels: &'static [f64],
    knee: usize,
    falls: bool,
    /// Minimum fraction of exact knees, with one trial per level and with five.
    placed: [f64; 2],
}

const SHARP: Curve = Curve {
    name: "sharp",
    levels: &[20.0, 40.0, 60.0, 80.0, 80.0, 80.0, 80.0],
    knee: 3,
    falls: false,
    placed: [0.8, 0.95],
};

const CURVES: [Curve; 4] = [
    SHARP,
    Curve {
        name: "round",
        levels: &[28.0, 40.0, 56.0, 67.0, 75.0, 77.0, 78.0],
        knee: 4,
        placed: [0.55, 0.8],
        ..SHARP
    },
    Curve { name: "rises to its end", levels: &[10.0, 20.0, 40.0, 80.0], placed: [0.99, 0.99], ..SHARP },
    Curve {
        name: "falls again",
        levels: &[30.0, 60.0, 80.0, 80.0, 79.0, 65.0, 50.0],
        knee: 2,
        falls: true,
        ..SHARP
    },
];

fn knees() -> Vec<Case> {
    let mut cases = Vec::new();
    for Curve { name, levels: curve, knee, falls, placed } in CURVES {
        for (n, least) in [1, 5].into_iter().zip(placed) {
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
            cases.push(Case::new("knee: placed exactly", data.clone(), (least, 1.0), move |draws| {
                Some(draw(draws)?.index == knee)
            }));
            if !falls {
                cases.push(Case::new("knee: false fall", data, FALSE_ALARMS, move |draws| {
                    Some(draw(draws)?.falls_at.is_some())
                }));
            }
        }
    }
    cases
}

//! How often jumps, humps and knees are found where they are, and where there are none. Knows no comparison.

use stats::{bimodal, curve, interval, levels, warmup};

use crate::{
    alarms::{FALSE_ALARMS, scaled},
    case::Case,
    draws::{Draws, Shape},
};

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    [stopping(), shapes(), jumps(), warm_ups(), knees()].into_iter().flatten().collect()
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

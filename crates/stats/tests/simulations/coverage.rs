//! Measures the actual coverage of the intervals.

use stats::{Blocks, Family, Fit, Interval, Level, interval, ratio, series};

use crate::{
    case::Case,
    draws::{Draws, Shape},
};

pub(crate) const ASKED: (f64, f64) = (0.93, 0.97);

pub(crate) fn cases() -> Vec<Case> {
    [medians(), stopping(), paired(), unpaired(), means(), short(), ratios_of_series()]
        .into_iter()
        .flatten()
        .collect()
}

/// An exact interval must have the coverage that it reports. In small samples, it reports more than the requested
/// coverage.
fn exact(attained: f64) -> (f64, f64) {
    (attained - 0.005, attained + 0.005)
}

pub(crate) fn holds(interval: Option<Interval>, truth: f64) -> Option<bool> {
    interval.map(|interval| interval.contains(truth))
}

fn medians() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, attained) in [(6, 0.969), (10, 0.979), (15, 0.965), (30, 0.957)] {
        for shape in Shape::ALL {
            let data = format!("{} n={n}", shape.name());
            cases.push(Case::new("median", data, exact(attained), move |draws| {
                let values: Vec<f64> = (0..n).map(|_| draws.error(shape)).collect();
                holds(interval::median_interval(&values, 0.95), shape.median())
            }));
        }
    }
    cases
}

/// Coverage when a run stops because the value is precise enough.
fn stopping() -> Vec<Case> {
    let mut cases = Vec::new();
    for shape in Shape::ALL {
        for precision in [0.02, 0.01] {
            for most in [20, 60] {
                let data = format!("{} 3 %, to {:.0} %, 5 to {most} trials", shape.name(), 100.0 * precision);
                let claim = (0.87, 0.97);
                let case = Case::new("value at the stop", data, claim, move |draws| {
                    let mut results = [Blocks::new(), Blocks::new(), Blocks::new()];
                    for block in 0..most {
                        for values in &mut results {
                            values.insert(block, draws.rates(1, shape, 0.03)[0]);
                        }
                        if block + 1 < 5 {
                            continue;
                        }
                        let fit = Fit::of(&results[..2], &results[2], Family::SINGLE)?;
                        let reach = fit.value(1, interval::TO_STOP)?.reach();
                        if reach.is_some_and(|reach| reach <= precision) || block + 1 == most {
                            let truth = 10.0 * (0.03 * shape.mean()).exp();
                            return holds(fit.value(1, 0.95)?.interval, truth);
                        }
                    }
                    None
                });
                // A run may stop before it has seen the second mode.
                cases.push(case.claimed_if(shape != Shape::TwoHumps));
            }
        }
    }
    cases
}

/// Pairs in which blocks vary by 10 % and trials by 3 %. The second value is 0.8 times the first.
pub(crate) fn blocks(draws: &mut Draws, n: usize, shape: Shape) -> Vec<(f64, f64)> {
    (0..n)
        .map(|_| {
            let block = (0.1 * draws.normal()).exp();
            let mut one = || draws.rates(1, shape, 0.03)[0];
            (block * one(), 0.8 * block * one())
        })
        .collect()
}

fn paired() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, attained) in [(5, 0.9375), (6, 0.969), (10, 0.951), (30, 0.95)] {
        for shape in Shape::ALL {
            let data = format!("{} n={n}", shape.name());
            cases.push(Case::new("paired ratio", data, exact(attained), move |draws| {
                holds(ratio::paired_ratio(&blocks(draws, n, shape), 0.95)?.interval, 0.8)
            }));
        }
    }
    // Skewed log ratios violate the method's assumptions, more visibly with more blocks.
    for (n, held) in [(6, (0.93, 0.98)), (10, (0.91, 0.97)), (30, (0.80, 0.90))] {
        let data = format!("only the second disturbed n={n}");
        cases.push(Case::new("paired ratio", data, held, move |draws| {
            let pairs: Vec<(f64, f64)> = (0..n)
                .map(|_| (draws.rates(1, Shape::Normal, 0.03)[0], draws.disturbed(1, 0.03, 0.7)[0]))
                .collect();
            holds(ratio::paired_ratio(&pairs, 0.95)?.interval, 1.0)
        }));
    }
    cases
}

/// Welch's interval may be conservative.
const WELCH: (f64, f64) = (ASKED.0, 0.99);

fn unpaired() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, m) in [(2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (10, 10), (5, 15), (5, 30), (30, 30)] {
        for shape in Shape::ALL {
            let data = format!("{} n={n},{m}", shape.name());
            let case = Case::new("unpaired ratio", data, WELCH, move |draws| {
                let (a, b) = (draws.rates(n, shape, 0.03), draws.rates(m, shape, 0.03));
                let b: Vec<f64> = b.iter().map(|x| 0.8 * x).collect();
                holds(Level::of(&b)?.ratio(&Level::of(&a)?, 0.95)?.interval, 0.8)
            });
            // Five values show little of a skewed distribution or of two modes.
            let uneven = m > 2 * n && matches!(shape, Shape::Skewed | Shape::TwoHumps);
            cases.push(case.claimed_if(!uneven && shape != Shape::TwoHumps));
        }
        for times in [1.0 / 10.0, 1.0 / 3.0, 3.0, 10.0] {
            let data = format!("normal n={n},{m}, b varies {times:.1} times as much");
            cases.push(Case::new("unpaired ratio", data, WELCH, move |draws| {
                let scatter = 0.02 * times;
                let (a, b) = (draws.rates(n, Shape::Normal, 0.02), draws.rates(m, Shape::Normal, scatter));
                holds(Level::of(&b)?.ratio(&Level::of(&a)?, 0.95)?.interval, 1.0)
            }));
        }
    }
    cases
}

/// Lengths, autocorrelations and minimum coverages. The coverage is lower if a series is short for its correlation.
const CHAINS: [(usize, f64, f64); 9] = [
    (30, 0.0, 0.93),
    (30, 0.3, 0.93),
    (30, 0.5, 0.92),
    (100, 0.0, 0.93),
    (100, 0.5, 0.93),
    (100, 0.8, 0.92),
    (300, 0.0, 0.93),
    (300, 0.5, 0.93),
    (300, 0.8, 0.93),
];

fn means() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, carry, least) in CHAINS {
        for shape in Shape::ALL {
            let data = format!("{} AR(1) {carry} n={n}", shape.name());
            cases.push(Case::new("mean of a series", data, (least, ASKED.1), move |draws| {
                let values = draws.series(n, shape, carry);
                holds(series::mean_estimate(&values, 0.95)?.interval, shape.mean_in_time())
            }));
        }
    }
    cases
}

/// Series with a small effective size, without claims.
fn short() -> Vec<Case> {
    let case = |shape: Shape| {
        let data = format!("{} AR(1) 0.8 n=20", shape.name());
        let once = move |draws: &mut Draws| {
            holds(series::mean_estimate(&draws.series(20, shape, 0.8), 0.95)?.interval, shape.mean_in_time())
        };
        Case::figure("mean of a series", data, once).answering(0.5)
    };
    Shape::ALL.into_iter().map(case).collect()
}

fn ratios_of_series() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, m, carry) in [(30, 30, 0.3), (100, 100, 0.5), (60, 300, 0.5)] {
        for shape in Shape::ALL {
            let data = format!("{} AR(1) {carry} n={n},{m}", shape.name());
            cases.push(Case::new("ratio of two series", data, ASKED, move |draws| {
                let about = |values: Vec<f64>, level: f64| -> Vec<f64> {
                    values.iter().map(|x| level * (1.0 + 0.05 * (x - shape.mean_in_time()))).collect()
                };
                let (a, b) = (draws.series(n, shape, carry), draws.series(m, shape, 0.0));
                holds(series::ratio_estimate(&about(a, 10.0), &about(b, 8.0), 0.95)?.interval, 0.8)
            }));
        }
    }
    cases
}

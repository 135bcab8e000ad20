//! Runs common methods that plumb does not use, on the data for its own methods, without claims. Only `make stats` runs
//! them.

use stats::{Interval, describe};

use crate::{
    case::Case,
    coverage::{blocks, holds},
    draws::{Draws, Shape},
};

const DRAWN: usize = 500;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [5, 6, 10, 30] {
        for shape in [Shape::Normal, Shape::Heavy] {
            let data = format!("{} n={n}", shape.name());
            cases.push(Case::figure("paired bootstrap, medians", data.clone(), move |draws| {
                let pairs = blocks(draws, n, shape);
                holds(paired_ratio(draws, &pairs, describe::median), 0.8)
            }));
            cases.push(Case::figure("paired bootstrap, means", data, move |draws| {
                let pairs = blocks(draws, n, shape);
                holds(paired_ratio(draws, &pairs, describe::mean), 0.8)
            }));
        }
    }
    for (n, carry) in [(30, 0.3), (100, 0.5), (300, 0.8)] {
        let data = format!("normal AR(1) {carry} n={n}");
        cases.push(Case::figure("block bootstrap of a mean", data.clone(), move |draws| {
            let values = draws.series(n, Shape::Normal, carry);
            holds(block_mean(draws, &values), 0.0)
        }));
        cases.push(Case::figure("ten batch means", data, move |draws| {
            holds(batch_mean(&draws.series(n, Shape::Normal, carry), 10), 0.0)
        }));
    }
    cases
}

/// Percentile bootstrap of the ratio, resampling whole blocks (Efron & Tibshirani, An Introduction to the
/// Bootstrap, 1993, section 13.3). `middle_of` summarises the log ratios.
fn paired_ratio(
    draws: &mut Draws,
    pairs: &[(f64, f64)],
    middle_of: fn(&[f64]) -> Option<f64>,
) -> Option<Interval> {
    let drawn = (0..DRAWN).map(|_| {
        let again: Vec<(f64, f64)> = (0..pairs.len()).map(|_| pairs[draws.place(pairs.len())]).collect();
        let logs: Vec<f64> = again.iter().map(|(a, b)| (b / a).ln()).collect();
        Some(middle_of(&logs)?.exp())
    });
    middle(&drawn.collect::<Option<Vec<_>>>()?)
}

/// Circular block bootstrap of a mean, with blocks of n^(1/3) values (Politis & Romano 1992; Hall, Horowitz & Jing,
/// Biometrika 82, 1995).
fn block_mean(draws: &mut Draws, values: &[f64]) -> Option<Interval> {
    let n = values.len();
    let length = (n as f64).cbrt().ceil() as usize;
    let drawn = (0..DRAWN).map(|_| {
        let blocks = n.div_ceil(length);
        let starts: Vec<usize> = (0..blocks).map(|_| draws.place(n)).collect();
        let again: Vec<f64> = starts
            .iter()
            .flat_map(|start| (0..length).map(move |i| values[(start + i) % n]))
            .take(n)
            .collect();
        describe::mean(&again)
    });
    middle(&drawn.collect::<Option<Vec<_>>>()?)
}

/// Student's interval from batch means (Law, Simulation Modeling and Analysis, 5th ed. 2015, 9.5.3).
fn batch_mean(values: &[f64], batches: usize) -> Option<Interval> {
    let quantile = (batches == 10).then_some(2.262_157)?;
    let means: Option<Vec<f64>> =
        values.chunks_exact(values.len() / batches).take(batches).map(describe::mean).collect();
    let means = means?;
    let half = quantile * describe::stddev(&means)? / (batches as f64).sqrt();
    let mean = describe::mean(&means)?;
    Some(Interval { low: mean - half, high: mean + half, confidence: 0.95 })
}

impl Draws {
    fn place(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n - 1)
    }
}

fn middle(drawn: &[f64]) -> Option<Interval> {
    let (low, high) = (describe::quantile(drawn, 0.025)?, describe::quantile(drawn, 0.975)?);
    Some(Interval { low, high, confidence: 0.95 })
}

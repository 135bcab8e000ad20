//! The usual methods that the house does not use, to be compared with those it does. Knows no data.

use stats::{Interval, describe};

use crate::draws::Draws;

const DRAWN: usize = 500;

/// Percentile bootstrap of the ratio, blocks drawn as a whole (Efron & Tibshirani, An Introduction to the Bootstrap,
/// 1993, section 13.3): of `middle_of` the log ratios.
pub(crate) fn paired_ratio(
    draws: &mut Draws,
    pairs: &[(f64, f64)],
    middle_of: fn(&[f64]) -> Option<f64>,
) -> Option<Interval> {
    let drawn = (0..DRAWN).map(|_| {
        let again: Vec<(f64, f64)> = (0..pairs.len()).map(|_| pairs[draws.below(pairs.len())]).collect();
        let logs: Vec<f64> = again.iter().map(|(a, b)| (b / a).ln()).collect();
        Some(middle_of(&logs)?.exp())
    });
    middle(&drawn.collect::<Option<Vec<_>>>()?)
}

/// Circular block bootstrap of a mean with blocks of n^(1/3) values (Politis & Romano 1992; Hall, Horowitz & Jing,
/// Biometrika 82, 1995).
pub(crate) fn block_mean(draws: &mut Draws, values: &[f64]) -> Option<Interval> {
    let n = values.len();
    let length = (n as f64).cbrt().ceil() as usize;
    let drawn = (0..DRAWN).map(|_| {
        let blocks = n.div_ceil(length);
        let starts: Vec<usize> = (0..blocks).map(|_| draws.below(n)).collect();
        let again: Vec<f64> = starts
            .iter()
            .flat_map(|start| (0..length).map(move |i| values[(start + i) % n]))
            .take(n)
            .collect();
        describe::mean(&again)
    });
    middle(&drawn.collect::<Option<Vec<_>>>()?)
}

/// Student's interval from the means of so many batches (Law, Simulation Modeling and Analysis, 5th ed. 2015, 9.5.3).
pub(crate) fn batch_mean(values: &[f64], batches: usize) -> Option<Interval> {
    // The 97.5 % point for 9 degrees of freedom.
    let quantile = (batches == 10).then_some(2.262_157)?;
    let means: Option<Vec<f64>> =
        values.chunks_exact(values.len() / batches).take(batches).map(describe::mean).collect();
    let means = means?;
    let half = quantile * describe::stddev(&means)? / (batches as f64).sqrt();
    let mean = describe::mean(&means)?;
    Some(Interval { low: mean - half, high: mean + half, confidence: 0.95 })
}

fn middle(drawn: &[f64]) -> Option<Interval> {
    let (low, high) = (describe::quantile(drawn, 0.025)?, describe::quantile(drawn, 0.975)?);
    Some(Interval { low, high, confidence: 0.95 })
}

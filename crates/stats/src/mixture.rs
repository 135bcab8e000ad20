//! Compares two samples level by level if both are mixtures of the same two levels.

use crate::{bimodal, interval::Estimate, location::Level};

/// Minimum ratio of the two levels.
pub const LEAST_RATIO: f64 = 1.1;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The level in the first sample.
    pub value: f64,
    /// The level in the second sample, divided by that in the first.
    pub ratio: Estimate,
    /// Fraction of values at this level in each sample.
    pub shares: [f64; 2],
}

/// Returns both levels of two samples of positive values. All values together must be bimodal
/// ([`bimodal::bimodal`]), and both samples must have values at each level.
pub(crate) fn of(a: &[f64], b: &[f64], confidence: f64) -> Option<[Part; 2]> {
    let logs: Vec<f64> = a.iter().chain(b).map(|value| value.ln()).collect();
    let levels = bimodal::bimodal(&logs).filter(|it| it.high - it.low > LEAST_RATIO.ln())?;
    let edge = 0.5 * (levels.low + levels.high);
    let part = |is_high: bool| {
        let own = |values: &[f64]| -> Vec<f64> {
            values.iter().copied().filter(|value| (value.ln() > edge) == is_high).collect()
        };
        let (of_a, of_b) = (own(a), own(b));
        let level = Level::of(&of_a)?;
        Some(Part {
            value: level.estimate(confidence)?.value,
            ratio: Level::of(&of_b)?.ratio(&level, confidence)?,
            shares: [of_a.len() as f64 / a.len() as f64, of_b.len() as f64 / b.len() as f64],
        })
    };
    Some([part(false)?, part(true)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed(low: usize, high: usize, scale: f64) -> Vec<f64> {
        let around = |level: f64, n: usize| (0..n).map(move |at| level * (1.0 + 0.01 * (at % 3) as f64));
        around(10.0 * scale, low).chain(around(20.0 * scale, high)).collect()
    }

    #[test]
    fn levels_of_both_samples_are_compared_with_their_shares() {
        let found = of(&mixed(8, 2, 1.0), &mixed(2, 8, 0.95), 0.95).expect("two levels");
        for (part, shares) in found.into_iter().zip([[0.8, 0.2], [0.2, 0.8]]) {
            assert!((part.ratio.value - 0.95).abs() < 0.02 && part.shares == shares, "{part:?}");
        }
    }

    #[test]
    fn samples_at_one_level_each_are_no_mixture() {
        assert_eq!(of(&mixed(10, 0, 1.0), &mixed(0, 10, 1.0), 0.95), None);
        assert_eq!(of(&mixed(10, 0, 1.0), &mixed(10, 0, 1.0), 0.95), None);
    }
}

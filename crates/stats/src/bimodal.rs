//! Detects bimodal samples.

use crate::describe;

pub const FEWEST: usize = 8;
/// Minimum number of groups for detecting groups in different modes.
const FEWEST_GROUPS: usize = 5;
/// Minimum fraction of values in the smaller mode.
pub const LEAST_SHARE: f64 = 0.1;
/// Returns the minimum Ashman's D for n values. The customary threshold of 2 is useless after a split, because halving
/// a normal distribution gives D = 2.65, and halving a uniform one gives 3.46. In simulations, this bound is about the
/// 98th percentile of D for 8 to 120 uniform values.
pub fn least_separation(n: usize) -> f64 {
    4.0 + 28.0 / n as f64
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevels {
    pub low: f64,
    pub high: f64,
    pub share_high: f64,
}

/// Splits a sample into two modes, minimizing the sum of squares within them (2-means; Fisher 1958). Returns `None`
/// if Ashman's D is below [`least_separation`], or a mode has fewer than three values or less than [`LEAST_SHARE`]
/// of the sample.
pub fn bimodal(values: &[f64]) -> Option<TwoLevels> {
    let v = describe::sorted(values).filter(|v| v.len() >= FEWEST)?;
    split(&v, 3.0f64.max(LEAST_SHARE * v.len() as f64), least_separation(v.len()))
}

fn split(v: &[f64], least: f64, separation: f64) -> Option<TwoLevels> {
    let cut = best_cut(v)?;
    let (lower, upper) = v.split_at(cut);
    if (lower.len().min(upper.len()) as f64) < least || !apart(lower, upper, separation)? {
        return None;
    }
    let share_high = upper.len() as f64 / v.len() as f64;
    Some(TwoLevels { low: describe::median(lower)?, high: describe::median(upper)?, share_high })
}

/// Returns the two modes of grouped values, e.g. of the intervals of several trials. If values alternate within groups,
/// at least three values, and at least [`LEAST_SHARE`] of all values, must lie outside the main mode of their group.
/// Otherwise, each group counts as a single observation.
pub fn bimodal_within(groups: &[Vec<f64>]) -> Option<TwoLevels> {
    let levels = bimodal(&groups.concat())?;
    let is_high = |value: &&f64| (*value - levels.low).abs() > (*value - levels.high).abs();
    let strays = groups.iter().map(|group| {
        let high = group.iter().filter(is_high).count();
        high.min(group.len() - high)
    });
    let all: usize = groups.iter().map(Vec::len).sum();
    let goes_back = strays.sum::<usize>() as f64 >= 3.0f64.max(LEAST_SHARE * all as f64);
    (goes_back || are_apart(groups)).then_some(levels)
}

/// Returns whether each mode has at least two groups. In simulations, the bound used here is about the 99th percentile
/// of D for 5 to 10 uniform values.
fn are_apart(groups: &[Vec<f64>]) -> bool {
    let medians = groups.iter().filter_map(|group| describe::median(group)).collect::<Vec<_>>();
    let sorted = describe::sorted(&medians).filter(|v| v.len() >= FEWEST_GROUPS);
    sorted.and_then(|v| split(&v, 2.0, 4.0 + 60.0 / v.len() as f64)).is_some()
}

/// Compares Ashman's D with its bound. Both sides are squared and multiplied by the spread, because the spread may be
/// zero.
fn apart(lower: &[f64], upper: &[f64], separation: f64) -> Option<bool> {
    let distance = describe::mean(upper)? - describe::mean(lower)?;
    let spread = describe::variance(lower)? + describe::variance(upper)?;
    Some(distance > 0.0 && 2.0 * distance * distance >= separation.powi(2) * spread)
}

fn best_cut(v: &[f64]) -> Option<usize> {
    let n = v.len() as f64;
    let center = describe::mean(v)?;
    let mut left = 0.0;
    let mut best = (0.0, None);
    for (i, x) in v.iter().enumerate().take(v.len() - 1) {
        left += x - center;
        let size = (i + 1) as f64;
        let between = left * left * n / (size * (n - size));
        if between > best.0 {
            best = (between, Some(i + 1));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn finds_two_rates_with_their_fractions() {
        let v = [12.5, 12.6, 12.7, 12.6, 12.5, 12.6, 20.0, 20.1, 19.9, 20.0];
        assert_eq!(bimodal(&v), Some(TwoLevels { low: 12.6, high: 20.0, share_high: 0.4 }));
    }

    #[test]
    fn single_level_is_unimodal() {
        assert_eq!(bimodal(&[5.0; 20]), None);
        assert_eq!(bimodal(&[5.0, 5.1, 4.9, 5.0, 5.2, 4.8, 5.0, 50.0]), None, "one outlier is no level");
    }

    #[test]
    fn single_shifted_group_is_not_a_mode() {
        let odd = [
            [25.8, 24.1, 25.8],
            [20.2, 19.8, 20.4],
            [25.3, 23.2, 25.3],
            [25.1, 24.6, 25.2],
            [24.0, 23.7, 24.8],
        ];
        assert_eq!(bimodal_within(&odd.map(Vec::from)), None);
        assert!(bimodal(odd.as_flattened()).is_some(), "observations");
        let placed = [
            [11.0, 11.2, 11.1],
            [49.0, 49.3, 49.1],
            [11.1, 11.0, 11.3],
            [49.2, 49.1, 49.0],
            [11.2, 11.1, 11.0],
        ];
        let levels = TwoLevels { low: 11.1, high: 49.1, share_high: 0.4 };
        assert_eq!(bimodal_within(&placed.map(Vec::from)), Some(levels), "two and more at either");
        let switching = [[12.5, 12.6, 20.0, 20.1], [20.0, 12.5, 12.6, 20.0], [19.9, 20.0, 12.6, 12.5]];
        assert_eq!(
            bimodal_within(&switching.map(Vec::from)),
            Some(TwoLevels { low: 12.55, high: 20.0, share_high: 0.5 })
        );
    }

    type Shape = fn(f64) -> f64;

    #[test]
    fn unimodal_samples_rarely_look_bimodal() {
        let shapes: [(&str, Shape); 3] = [
            ("normal", normal_quantile),
            ("uniform", |u| u),
            ("lognormal", |u| (0.3 * normal_quantile(u)).exp()),
        ];
        for (name, shape) in shapes {
            for n in [8, 10, 20, 60] {
                let mut rng = Pcg64Mcg::seed_from_u64(n as u64);
                let mut draw = || (0..n).map(|_| shape(rng.random_range(1e-9..1.0))).collect::<Vec<f64>>();
                let alarms = (0..500).filter(|_| bimodal(&draw()).is_some()).count();
                assert!(alarms <= 25, "{name}, n = {n}: {alarms} of 500");
            }
        }
    }

    proptest! {
        #[test]
        fn no_input_panics(v in prop::collection::vec(prop::num::f64::ANY, 0..20)) {
            if let Some(t) = bimodal(&v) { prop_assert!(t.low < t.high); }
        }
    }
}

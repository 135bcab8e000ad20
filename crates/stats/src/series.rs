//! Estimates for autocorrelated time series.

use std::borrow::Cow;

use crate::{
    describe,
    distribution::student_quantile,
    interval::{Estimate, Interval},
};

pub const FEWEST: usize = 10;
/// Longer series than this are first averaged in groups. This preserves slow changes, which matter most.
const LONGEST: usize = 4096;
const MOST_LAGS: usize = 2000;

/// Returns the mean of a steady ([`crate::levels`]) autocorrelated series, with an interval from the mean square of
/// its first v cosine transforms (Lazarus, Lewis, Stock & Watson 2018). v is 0.5 w^(2/3), but at least 3 and at most
/// 64. Here w is the effective sample size (n over [`inflation`]). There is no interval if there are fewer than
/// [`FEWEST`] values or w is below three.
pub fn mean_estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    let value = describe::mean(values)?;
    Some(Estimate { value, interval: interval(values, value, confidence) })
}

/// Returns the ratio b/a of the means of two independent autocorrelated series with positive means, by the delta
/// method on the logarithm with the Welch-Satterthwaite degrees of freedom. The interval ignores variation between
/// trials.
pub fn ratio_estimate(a: &[f64], b: &[f64], confidence: f64) -> Option<Estimate> {
    let positive = |values: &[f64]| describe::mean(values).filter(|mean| *mean > 0.0);
    let (under, over) = (positive(a)?, positive(b)?);
    let value = Some(over / under).filter(|value| value.is_finite() && *value > 0.0)?;
    Some(Estimate { value, interval: ratio_interval(a, b, value, confidence) })
}

fn ratio_interval(a: &[f64], b: &[f64], value: f64, confidence: f64) -> Option<Interval> {
    let (a, b) = (relative_error(a)?, relative_error(b)?);
    let (square, other) = (a.error * a.error, b.error * b.error);
    let total = square + other;
    let freedom = if total > 0.0 {
        total * total / (square * square / a.freedom + other * other / b.freedom)
    } else {
        a.freedom.min(b.freedom)
    };
    let half = student_quantile(confidence, freedom)? * total.sqrt();
    let (low, high) = (value * (-half).exp(), value * half.exp());
    high.is_finite().then_some(Interval { low, high, confidence })
}

fn interval(values: &[f64], mean: f64, confidence: f64) -> Option<Interval> {
    let error = standard_error(values)?;
    let half = student_quantile(confidence, error.freedom)? * error.error;
    half.is_finite().then_some(Interval { low: mean - half, high: mean + half, confidence })
}

struct StandardError {
    error: f64,
    freedom: f64,
}

fn standard_error(values: &[f64]) -> Option<StandardError> {
    if values.len() < FEWEST {
        return None;
    }
    let values = grouped(values, LONGEST);
    let n = values.len() as f64;
    let worth = n / inflation(&values)?.max(1.0);
    if worth < 3.0 {
        return None;
    }
    let waves = (0.5 * worth.powf(2.0 / 3.0)).floor().clamp(3.0, 64.0);
    let mean = describe::mean(&values)?;
    let centered: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = (1..=waves as usize).map(|wave| cosine(&centered, wave).powi(2)).sum();
    let error = (squares / waves / n).sqrt();
    error.is_finite().then_some(StandardError { error, freedom: waves })
}

/// Cosine transform of the series at `wave` half periods, scaled to 1 for independent values with variance 1.
fn cosine(values: &[f64], wave: usize) -> f64 {
    let n = values.len() as f64;
    let step = std::f64::consts::PI * wave as f64 / n;
    let sum: f64 =
        values.iter().enumerate().map(|(at, value)| value * (step * (at as f64 + 0.5)).cos()).sum();
    sum * (2.0 / n).sqrt()
}

/// Averages groups of neighbours to get at most `most` values. Drops an incomplete last group.
pub(crate) fn grouped(values: &[f64], most: usize) -> Cow<'_, [f64]> {
    if values.len() <= most {
        return Cow::Borrowed(values);
    }
    let size = values.len().div_ceil(most);
    let mean = |group: &[f64]| group.iter().map(|value| value / size as f64).sum();
    Cow::Owned(values.chunks_exact(size).map(mean).collect())
}

fn relative_error(values: &[f64]) -> Option<StandardError> {
    let StandardError { error, freedom } = standard_error(values)?;
    Some(StandardError { error: error / describe::mean(values)?, freedom })
}

/// Returns the factor by which autocorrelation inflates the variance of the mean, by the initial positive sequence
/// (Geyer 1992, section 3.3). It is 1 for a constant series, and `None` if there are fewer than two values.
pub fn inflation(values: &[f64]) -> Option<f64> {
    let mean = describe::mean(values).filter(|_| values.len() >= 2)?;
    let centered: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let n = centered.len();
    let covariance = |lag: usize| -> f64 {
        let products = centered.iter().zip(&centered[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / n as f64
    };
    let variance = covariance(0);
    if variance <= 0.0 {
        return Some(1.0);
    }
    let mut sum = -1.0;
    let mut lag = 0;
    let mut last = f64::INFINITY;
    while lag + 1 < n && lag < MOST_LAGS {
        // In a reversible chain, sums of adjacent autocovariances are positive and decreasing. The rest is noise.
        let pair = ((covariance(lag) + covariance(lag + 1)) / variance).min(last);
        if pair <= 0.0 {
            break;
        }
        sum += 2.0 * pair;
        last = pair;
        lag += 2;
    }
    sum.is_finite().then(|| sum.clamp(1.0 / n as f64, n as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn chain(rng: &mut Pcg64Mcg, n: usize, carry: f64) -> Vec<f64> {
        let mut draw = || normal_quantile(rng.random_range(1e-9..1.0));
        let mut error = draw();
        (0..n)
            .map(|_| {
                error = carry * error + (1.0 - carry * carry).sqrt() * draw();
                10.0 + error
            })
            .collect()
    }

    #[test]
    fn inflation_of_a_chain_matches_theory() {
        for (carry, truth) in [(0.0, 1.0), (0.5, 3.0), (0.8, 9.0)] {
            let mut rng = Pcg64Mcg::seed_from_u64(11);
            let found: Vec<f64> =
                (0..20).map(|_| inflation(&chain(&mut rng, 4000, carry)).unwrap()).collect();
            let found = describe::median(&found).unwrap();
            assert!((found / truth - 1.0).abs() < 0.15, "carry {carry}: {found}, theory {truth}");
        }
    }

    #[test]
    fn autocorrelated_values_have_claimed_coverage() {
        for (carry, n, least) in [(0.0, 20, 0.93), (0.0, 100, 0.93), (0.5, 100, 0.92), (0.8, 300, 0.92)] {
            let mut rng = Pcg64Mcg::seed_from_u64(n as u64);
            let holds = |_: &i32| {
                let interval = mean_estimate(&chain(&mut rng, n, carry), 0.95).unwrap().interval;
                interval.is_some_and(|interval| interval.contains(10.0))
            };
            let covered = (0..1000).filter(holds).count() as f64 / 1000.0;
            assert!((least..=0.98).contains(&covered), "carry {carry}, n = {n}: {covered}");
        }
    }

    /// Generated with SciPy by tests/reference/cosines.py.
    #[test]
    fn cosine_transforms_match_reference_implementation() {
        let table = include_str!("../tests/reference/cosines.tsv");
        let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.len() >= 20);
        for row in rows {
            let fields: Vec<Vec<f64>> =
                row.split('\t').map(|f| f.split(' ').map(|n| n.parse().unwrap()).collect()).collect();
            for (wave, want) in (1..).zip(&fields[0]) {
                let got = cosine(&fields[1], wave);
                assert!((got - want).abs() < 1e-9, "wave {wave}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn grouping_long_series_does_not_change_the_estimate() {
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let values = chain(&mut rng, 3 * LONGEST, 0.9);
        let whole = mean_estimate(&values, 0.95).unwrap().interval.unwrap();
        let half = (whole.high - whole.low) / 2.0;
        assert!((0.05..0.12).contains(&half), "{half}");
        assert_eq!((grouped(&[1.0, 3.0, 5.0, 7.0, 9.0], 2)).into_owned(), [3.0]);
    }

    #[test]
    fn ratio_of_series_has_claimed_coverage() {
        let mut rng = Pcg64Mcg::seed_from_u64(8);
        let holds = |_: &i32| {
            let a = chain(&mut rng, 60, 0.3);
            let b: Vec<f64> = chain(&mut rng, 30, 0.5).iter().map(|x| 0.8 * x).collect();
            ratio_estimate(&a, &b, 0.95).unwrap().interval.unwrap().contains(0.8)
        };
        let covered = (0..500).filter(holds).count() as f64 / 500.0;
        assert!((0.92..=0.98).contains(&covered), "{covered}");
        assert_eq!(
            (ratio_estimate(&[-1.0; 20], &[1.0; 20], 0.95), ratio_estimate(&[1.0; 20], &[], 0.95)),
            (None, None)
        );
        assert_eq!(
            ratio_estimate(&[2.0; 20], &[1.0; 5], 0.95),
            Some(Estimate { value: 0.5, interval: None })
        );
    }

    #[test]
    fn constant_values_have_an_empty_interval_and_few_have_none() {
        assert_eq!(mean_estimate(&[1.0; 9], 0.95), Some(Estimate { value: 1.0, interval: None }));
        let constant = mean_estimate(&[2.0; 30], 0.95).unwrap().interval.unwrap();
        assert_eq!((constant.low, constant.high), (2.0, 2.0));
        assert_eq!(mean_estimate(&[], 0.95), None);
    }

    proptest! {
        #[test]
        fn no_input_panics(v in prop::collection::vec(prop::num::f64::ANY, 0..40), c in prop::num::f64::ANY) {
            if let Some(i) = mean_estimate(&v, c).and_then(|e| e.interval) { prop_assert!(i.low <= i.high); }
            if let Some(t) = inflation(&v) { prop_assert!(t > 0.0); }
        }
    }
}

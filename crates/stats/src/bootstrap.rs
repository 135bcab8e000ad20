//! Bootstrap intervals of any statistic. Randomness comes from the seed handed in; must not know what is measured.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::describe;
use crate::distribution::{normal_cdf, normal_quantile};
use crate::interval::Interval;

/// Bias-corrected and accelerated (BCa) interval of `statistic`, after Efron & Tibshirani, An Introduction to the
/// Bootstrap (1993), chapter 14; the percentile interval (chapter 13) where the correction is degenerate.
///
/// The ends have the statistic's unit. `confidence` is what was asked: with few values the interval covers less
/// (for a median of 5 use [`crate::interval::median_interval`]). `None` for fewer than two values, values or statistics
/// that are not finite, no resamples, or a confidence outside (0, 1).
pub fn interval<F>(
    values: &[f64],
    statistic: F,
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval>
where
    F: Fn(&[f64]) -> f64,
{
    if values.len() < 2 || describe::first_non_finite(values).is_some() || !valid(confidence) {
        return None;
    }
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let draws: Vec<f64> = (0..resamples).map(|_| statistic(&resample(values, &mut rng))).collect();
    let draws = describe::sorted(&draws)?;
    let tail = 0.5 * (1.0 - confidence);
    let ends = bca_levels(values, &statistic, &draws, tail).unwrap_or((tail, 1.0 - tail));
    between(&draws, ends, confidence)
}

/// Percentile interval (Efron & Tibshirani 1993, chapter 13) of a statistic of two independent samples, each resampled
/// on its own (chapter 8). Same unit, errors and doubts about few values as [`interval`].
pub fn two_samples<F>(
    samples: (&[f64], &[f64]),
    statistic: F,
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval>
where
    F: Fn(&[f64], &[f64]) -> f64,
{
    let (a, b) = samples;
    let bad = |v: &[f64]| v.len() < 2 || describe::first_non_finite(v).is_some();
    if bad(a) || bad(b) || !valid(confidence) {
        return None;
    }
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let draws: Vec<f64> =
        (0..resamples).map(|_| statistic(&resample(a, &mut rng), &resample(b, &mut rng))).collect();
    percentile(&draws, confidence)
}

/// Percentile interval of a statistic of paired values; whole blocks are resampled, so what a block's two values share
/// stays shared (Efron & Tibshirani 1993, section 8.3). Same unit, errors and doubts as [`interval`].
pub fn paired<F>(
    pairs: &[(f64, f64)],
    statistic: F,
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval>
where
    F: Fn(&[f64], &[f64]) -> f64,
{
    let finite = pairs.iter().all(|(a, b)| a.is_finite() && b.is_finite());
    if pairs.len() < 2 || !finite || !valid(confidence) {
        return None;
    }
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let draws: Vec<f64> = (0..resamples)
        .map(|_| {
            let (a, b): (Vec<f64>, Vec<f64>) = resample(pairs, &mut rng).into_iter().unzip();
            statistic(&a, &b)
        })
        .collect();
    percentile(&draws, confidence)
}

fn valid(confidence: f64) -> bool {
    confidence > 0.0 && confidence < 1.0
}

fn resample<T: Copy>(values: &[T], rng: &mut Pcg64Mcg) -> Vec<T> {
    (0..values.len()).map(|_| values[rng.random_range(0..values.len())]).collect()
}

fn percentile(draws: &[f64], confidence: f64) -> Option<Interval> {
    let tail = 0.5 * (1.0 - confidence);
    between(&describe::sorted(draws)?, (tail, 1.0 - tail), confidence)
}

fn between(sorted: &[f64], (low, high): (f64, f64), confidence: f64) -> Option<Interval> {
    let low = describe::quantile_of_sorted(sorted, low)?;
    let high = describe::quantile_of_sorted(sorted, high)?;
    Some(Interval { low: low.min(high), high: high.max(low), confidence })
}

/// Corrected quantile levels, or `None` where bias or acceleration cannot be computed.
fn bca_levels<F: Fn(&[f64]) -> f64>(
    values: &[f64],
    statistic: &F,
    sorted: &[f64],
    tail: f64,
) -> Option<(f64, f64)> {
    let seen = statistic(values);
    // Ties count half: a median's resamples repeat the same few values.
    let below = sorted.iter().filter(|d| **d < seen).count() as f64;
    let equal = sorted.iter().filter(|d| **d == seen).count() as f64;
    let share = (below + 0.5 * equal) / sorted.len() as f64;
    if share <= 0.0 || share >= 1.0 {
        return None;
    }
    let bias = normal_quantile(share);
    let acceleration = acceleration(values, statistic)?;
    let level = |p: f64| {
        let z = bias + normal_quantile(p);
        let scale = 1.0 - acceleration * z;
        (scale > 0.0).then(|| normal_cdf(bias + z / scale))
    };
    Some((level(tail)?, level(1.0 - tail)?))
}

/// Acceleration from the jackknife (Efron & Tibshirani 1993, equation 14.15).
fn acceleration<F: Fn(&[f64]) -> f64>(values: &[f64], statistic: &F) -> Option<f64> {
    let left_out: Vec<f64> =
        (0..values.len()).map(|i| statistic(&[&values[..i], &values[i + 1..]].concat())).collect();
    let mean = describe::mean(&left_out)?;
    let (squares, cubes) = left_out.iter().fold((0.0, 0.0), |(s, c), v| {
        let d = mean - v;
        (s + d * d, c + d * d * d)
    });
    Some(cubes / (6.0 * f64::powf(squares, 1.5))).filter(|a| a.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mean(v: &[f64]) -> f64 {
        describe::mean(v).unwrap_or(f64::NAN)
    }

    #[test]
    fn the_same_seed_gives_the_same_interval_and_another_seed_another() {
        let v: Vec<f64> = (0..30).map(|i| f64::from(i * i)).collect();
        let of = |seed| interval(&v, mean, 0.95, 500, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn the_interval_of_a_mean_covers_about_what_was_asked() {
        let mut rng = Pcg64Mcg::seed_from_u64(11);
        let held = (0..300).filter(|seed| {
            let v: Vec<f64> = (0..25).map(|_| normal_quantile(rng.random_range(1e-9..1.0))).collect();
            interval(&v, |v| v.iter().sum::<f64>() / v.len() as f64, 0.9, 300, *seed).unwrap().contains(0.0)
        });
        let held = held.count();
        assert!((250..=288).contains(&held), "{held} of 300 at 90 %");
    }

    #[test]
    fn a_shared_swing_of_the_blocks_does_not_widen_the_paired_interval() {
        let pairs: Vec<(f64, f64)> = (1..=20).map(|i| (f64::from(i), 2.0 * f64::from(i))).collect();
        let got = paired(&pairs, |a, b| mean(b) / mean(a), 0.95, 200, 3).unwrap();
        assert!((got.low - 2.0).abs() < 1e-9 && (got.high - 2.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn no_input_panics(v in prop::collection::vec(prop::num::f64::ANY, 0..8), c in prop::num::f64::ANY) {
            if let Some(i) = interval(&v, mean, c, 20, 7) { prop_assert!(i.low <= i.high); }
        }
    }
}

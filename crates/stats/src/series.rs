//! Values that follow each other in time and depend on the ones before. Must not know what they measure.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    describe,
    interval::{Estimate, Interval},
};

/// Fewest values for an interval.
pub const FEWEST: usize = 10;

/// Mean of a series with an interval that heeds that neighbours are alike.
///
/// The standard error is that of independent values times the square root of [`inflation`]; the interval is Student's
/// with as many degrees of freedom as there are independent values' worth, less one. `None` for no values or values
/// that are not finite; the interval is `None` for fewer than [`FEWEST`] values, for less than three values' worth, or
/// a confidence outside (0, 1). For a steady series: a jump between two levels is not noise ([`crate::levels`]).
pub fn mean_estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    let value = describe::mean(values)?;
    Some(Estimate { value, interval: interval(values, value, confidence) })
}

fn interval(values: &[f64], mean: f64, confidence: f64) -> Option<Interval> {
    let n = values.len() as f64;
    if values.len() < FEWEST || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let worth = n / inflation(values)?.max(1.0);
    if worth < 3.0 {
        return None;
    }
    let quantile = StudentsT::new(0.0, 1.0, worth - 1.0).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    // A part of the variance is hidden in the dependence itself: its expectation is (1 - inflation / n) of it.
    let variance = describe::variance(values)? * (n - 1.0) / (n - n / worth);
    let half = quantile * (variance / worth).sqrt();
    half.is_finite().then_some(Interval { low: mean - half, high: mean + half, confidence })
}

/// How much the dependence of neighbours inflates the variance of the mean: 1 for independent values, n for values that
/// are all one. Twice the integrated autocorrelation time, by the initial positive sequence (Geyer, Statistical Science
/// 7, 1992, section 3.3). 1 for a constant series. `None` for fewer than two values or values that are not finite.
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
    while lag + 1 < n {
        // Sums of neighbouring lags are positive and fall for a reversible chain; what does not is noise.
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
    fn the_inflation_of_a_chain_is_what_theory_says() {
        for (carry, truth) in [(0.0, 1.0), (0.5, 3.0), (0.8, 9.0)] {
            let mut rng = Pcg64Mcg::seed_from_u64(11);
            let found: Vec<f64> =
                (0..20).map(|_| inflation(&chain(&mut rng, 4000, carry)).unwrap()).collect();
            let found = describe::median(&found).unwrap();
            assert!((found / truth - 1.0).abs() < 0.15, "carry {carry}: {found}, theory {truth}");
        }
    }

    #[test]
    fn intervals_of_dependent_values_cover_what_they_claim() {
        for (carry, n, least) in [(0.0, 20, 0.92), (0.0, 100, 0.92), (0.5, 100, 0.91), (0.5, 300, 0.92)] {
            let mut rng = Pcg64Mcg::seed_from_u64(n as u64);
            let holds = |_: &i32| {
                let interval = mean_estimate(&chain(&mut rng, n, carry), 0.95).unwrap().interval;
                interval.is_some_and(|interval| interval.contains(10.0))
            };
            let covered = (0..1000).filter(holds).count() as f64 / 1000.0;
            assert!((least..=0.98).contains(&covered), "carry {carry}, n = {n}: {covered}");
        }
    }

    #[test]
    fn too_few_or_constant_values_have_no_or_an_empty_interval() {
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

//! Intervals, estimates, and the exact interval of a median.

use crate::describe;
use crate::distribution;

/// Confidence level for deciding when to stop measuring. It is higher than in reports, because the decision is repeated
/// after every trial.
pub const TO_STOP: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// Actual coverage probability, from 0 to 1. It may be below the requested confidence if there are few values.
    pub confidence: f64,
}

impl Interval {
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub interval: Option<Interval>,
}

impl Estimate {
    /// Returns the relative distance to the farther end of the interval, e.g. 0.02 if the value is known to within 2
    /// %. Returns `None` if there is no interval or the value is not positive.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        let interval = self.interval.filter(|_| self.value > 0.0)?;
        let reach = (interval.high - self.value).max(self.value - interval.low) / self.value;
        reach.is_finite().then_some(reach)
    }
}

/// Exact, distribution-free interval of the median of independent values, from two order statistics (David &
/// Nagaraja 2003, section 7.1).
///
/// Uses the narrowest symmetric pair that reaches `confidence`, or the whole range if none does. The whole range
/// attains 50 % for n = 2, 75 % for 3, 87.5 % for 4, 93.75 % for 5 and 96.9 % for 6.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = describe::sorted(values).filter(|v| v.len() >= 2)?;
    let n = sorted.len();
    from_order(&sorted, &distribution::binomial_half_cdf(n), confidence)
}

pub fn median_estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    Some(Estimate { value: describe::median(values)?, interval: median_interval(values, confidence) })
}

/// Returns the narrowest pair of mirrored order statistics that reaches `confidence`. `cdf[k]` is the probability
/// that at most k of the statistics lie below the true value.
pub(crate) fn from_order(sorted: &[f64], cdf: &[f64], confidence: f64) -> Option<Interval> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let reaches = |k: &usize| 1.0 - 2.0 * cdf[*k] >= confidence - 1e-12;
    let last = (sorted.len() - 1) / 2;
    let cut = (0..=last).take_while(reaches).last().unwrap_or(0);
    let attained = (1.0 - 2.0 * cdf[cut]).clamp(0.0, 1.0);
    Some(Interval { low: sorted[cut], high: sorted[sorted.len() - 1 - cut], confidence: attained })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn median_interval_has_its_attained_confidence() {
        for (n, low, high, attained) in [
            (2, 1.0, 2.0, 0.5),
            (3, 1.0, 3.0, 0.75),
            (5, 1.0, 5.0, 0.9375),
            (6, 1.0, 6.0, 0.96875),
            (10, 2.0, 9.0, 1.0 - 22.0 / 1024.0),
        ] {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            let got = median_interval(&values, 0.95).unwrap();
            assert_eq!((got.low, got.high), (low, high), "n = {n}");
            assert!((got.confidence - attained).abs() < 1e-12, "n = {n}: {got:?}");
        }
    }

    #[test]
    fn reach_is_the_larger_distance() {
        let interval = Some(Interval { low: 9.9, high: 10.3, confidence: 0.95 });
        let of = |value, interval| Estimate { value, interval }.reach();
        assert!((of(10.0, interval).unwrap() - 0.03).abs() < 1e-12);
        assert_eq!((of(10.0, None), of(0.0, interval)), (None, None));
    }

    #[test]
    fn single_value_has_median_without_interval() {
        assert_eq!(median_estimate(&[3.0], 0.95), Some(Estimate { value: 3.0, interval: None }));
    }

    #[test]
    fn median_interval_covers_skewed_median_as_claimed() {
        let mut rng = Pcg64Mcg::seed_from_u64(23);
        for n in [3, 5, 10] {
            let draws: Vec<Interval> = (0..2000)
                .map(|_| {
                    let v: Vec<f64> = (0..n).map(|_| -rng.random_range(1e-12..1.0f64).ln()).collect();
                    median_interval(&v, 0.95).unwrap()
                })
                .collect();
            let held = draws.iter().filter(|i| i.contains(std::f64::consts::LN_2)).count() as f64 / 2000.0;
            let claim = draws[0].confidence;
            let error = 4.0 * (claim * (1.0 - claim) / 2000.0).sqrt();
            assert!((held - claim).abs() <= error, "n = {n}: covers {held}, claims {claim}");
        }
    }
}

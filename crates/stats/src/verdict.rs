//! From a ratio and a noise floor to a verdict. Must not know whether higher is better.

use crate::interval::{Estimate, Interval};
use crate::noise::NoiseFloor;

/// Least confidence that the interval and the floor must attain before a difference is called one: 0.9, which five
/// paired blocks reach.
pub const LEAST_CONFIDENCE: f64 = 0.9;

/// How many noise floors an interval may reach and still say "within noise".
pub const WIDEST_IN_FLOORS: f64 = 3.0;

/// What a ratio says beside the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// The second is lower than the first: interval below 1, estimate beyond the floor.
    Lower,
    /// The second is higher than the first: interval above 1, estimate beyond the floor.
    Higher,
    /// The estimate is no larger than what the baseline shows against itself.
    WithinNoise,
    /// Too few or too scattered trials to say.
    Unclear,
}

/// Verdict on a ratio (second over first) whose "no difference" is 1.
///
/// The floor and the estimate should rest on about as many blocks. No interval, or a ratio that is not positive, is
/// `Unclear`. The rule is ours; its false-alarm rate is held by a test.
pub fn verdict(ratio: &Estimate, floor: &NoiseFloor) -> Difference {
    let Some(interval) = ratio.interval else { return Difference::Unclear };
    if !(ratio.value > 0.0 && interval.low > 0.0 && interval.high.is_finite()) {
        return Difference::Unclear;
    }
    let size = floor.relative.ln_1p();
    if ratio.value.ln().abs() <= size {
        return if is_near(&interval, size) { Difference::WithinNoise } else { Difference::Unclear };
    }
    let sure = is_sure(interval.confidence) && is_sure(floor.confidence);
    match (sure, interval.high < 1.0, interval.low > 1.0) {
        (true, true, _) => Difference::Lower,
        (true, _, true) => Difference::Higher,
        _ => Difference::Unclear,
    }
}

/// Whether a confidence is at least [`LEAST_CONFIDENCE`], but for rounding.
pub fn is_sure(confidence: f64) -> bool {
    confidence >= LEAST_CONFIDENCE - 1e-12
}

/// How far from 1 a ratio's interval reaches, to the farther side, as a logarithm.
pub fn reach(interval: &Interval) -> f64 {
    interval.high.ln().max(-interval.low.ln())
}

/// Whether an interval reaches no farther than so many floors of this size (a logarithm) as "within noise" allows.
pub(crate) fn is_near(interval: &Interval, size: f64) -> bool {
    reach(interval) <= WIDEST_IN_FLOORS * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use crate::{noise, ratio};
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn each_case_has_its_verdict() {
        let floor = NoiseFloor { relative: 0.02, confidence: 0.95, pairs: 6 };
        for (value, low, high, confidence, want) in [
            (0.80, 0.75, 0.85, 0.95, Difference::Lower),
            (1.20, 1.10, 1.30, 0.95, Difference::Higher),
            (1.01, 1.005, 1.015, 0.95, Difference::WithinNoise),
            (1.01, 0.80, 1.30, 0.95, Difference::Unclear),
            (1.20, 0.90, 1.50, 0.95, Difference::Unclear),
            (0.80, 0.75, 0.85, 0.75, Difference::Unclear),
        ] {
            let estimate = Estimate { value, interval: Some(Interval { low, high, confidence }) };
            assert_eq!(verdict(&estimate, &floor), want, "{estimate:?}");
        }
        assert_eq!(verdict(&Estimate { value: 0.5, interval: None }, &floor), Difference::Unclear);
    }

    fn pairs(rng: &mut Pcg64Mcg, n: usize, factor: f64) -> Vec<(f64, f64)> {
        let mut one = || (0.05 * normal_quantile(rng.random_range(1e-9..1.0))).exp();
        (0..n).map(|_| (one(), factor * one())).collect()
    }

    fn count(n: usize, factor: f64, wanted: &[Difference]) -> usize {
        let mut rng = Pcg64Mcg::seed_from_u64(17 + n as u64);
        let one = |_: &usize| {
            let floor = noise::floor(&pairs(&mut rng, n, 1.0), 0.95, 0.0).unwrap();
            let estimate = ratio::paired_ratio(&pairs(&mut rng, n, factor), 0.95).unwrap();
            wanted.contains(&verdict(&estimate, &floor))
        };
        (0..500).filter(one).count()
    }

    #[test]
    fn equal_paths_are_rarely_called_different() {
        for n in [3, 5, 8, 12] {
            let alarms = count(n, 1.0, &[Difference::Lower, Difference::Higher]);
            assert!(alarms <= 25, "n = {n}: {alarms} false alarms of 500");
        }
    }

    #[test]
    fn equal_paths_are_mostly_called_within_noise_and_large_effects_found() {
        for n in [5, 8, 12] {
            let same = count(n, 1.0, &[Difference::WithinNoise]);
            let found = count(n, 0.7, &[Difference::Lower]);
            assert!(same >= 425 && found >= 475, "n = {n}: {same} within noise, {found} found of 500");
        }
    }

    #[test]
    fn a_shared_baseline_with_outliers_raises_few_false_alarms() {
        for n in [5, 8] {
            let mut rng = Pcg64Mcg::seed_from_u64(40 + n as u64);
            // One trial in ten loses 30 %, as on a machine with neighbours.
            let mut one = || {
                let slow = if rng.random_range(0.0..1.0) < 0.1 { 0.7 } else { 1.0 };
                slow * (0.03 * normal_quantile(rng.random_range(1e-9..1.0))).exp()
            };
            let alarms = (0..500).filter(|_| {
                let blocks: Vec<[f64; 3]> = (0..n).map(|_| [one(), one(), one()]).collect();
                let against = |i: usize| blocks.iter().map(|b| (b[0], b[i])).collect::<Vec<_>>();
                let floor = noise::floor(&against(1), 0.95, 0.0).unwrap();
                let estimate = ratio::paired_ratio(&against(2), 0.95).unwrap();
                matches!(verdict(&estimate, &floor), Difference::Lower | Difference::Higher)
            });
            let alarms = alarms.count();
            assert!(alarms <= 25, "n = {n}: {alarms} false alarms of 500");
        }
    }

    proptest! {
        #[test]
        fn no_input_panics(
            pairs in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..6),
            value in prop::num::f64::ANY, low in prop::num::f64::ANY, high in prop::num::f64::ANY,
        ) {
            let floor = noise::floor(&pairs, 0.95, 0.005)
                .unwrap_or(NoiseFloor { relative: value, confidence: low, pairs: 0 });
            prop_assert!(!floor.relative.is_finite() || floor.pairs == 0 || floor.relative >= 0.005);
            let got = verdict(&Estimate { value, interval: Some(Interval { low, high, confidence: 0.95 }) }, &floor);
            prop_assert!(got != Difference::Higher || low > 1.0);
        }
    }
}

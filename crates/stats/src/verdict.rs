//! Turns a ratio and a noise floor into a verdict.

use crate::interval::{Estimate, Interval};
use crate::noise::NoiseFloor;

/// Minimum confidence of the interval and the floor for a difference. Five paired blocks reach 0.9.
pub const LEAST_CONFIDENCE: f64 = 0.9;

/// Maximum distance of an interval "within noise" from 1, as a multiple of the noise floor.
const WIDEST_IN_FLOORS: f64 = 3.0;
/// Maximum relative distance from 1, regardless of the floor.
const MOST_OPEN: f64 = 0.25;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    Lower,
    Higher,
    /// The difference is below the floor or not significant, and the interval excludes large differences.
    WithinNoise,
    Unclear,
}

/// Judges a ratio second/first. The verdict is `Unclear` if there is no interval or the ratio is not positive.
pub fn verdict(ratio: &Estimate, floor: &NoiseFloor) -> Difference {
    let Some(interval) = ratio.interval else { return Difference::Unclear };
    if !(ratio.value > 0.0 && interval.low > 0.0 && interval.high.is_finite()) {
        return Difference::Unclear;
    }
    let size = floor.relative.ln_1p();
    let sure = is_sure(interval.confidence) && floor.is_sure();
    let small = ratio.value.ln().abs() <= size;
    if small || interval.contains(1.0) {
        let tells = reach(&interval) <= MOST_OPEN.ln_1p().min(WIDEST_IN_FLOORS * size);
        return if tells && (small || sure) { Difference::WithinNoise } else { Difference::Unclear };
    }
    match (sure, interval.high < 1.0) {
        (true, true) => Difference::Lower,
        (true, false) => Difference::Higher,
        (false, _) => Difference::Unclear,
    }
}

pub fn is_sure(confidence: f64) -> bool {
    confidence >= LEAST_CONFIDENCE - 1e-12
}

/// Returns the distance from 1 to the farther bound, as a logarithm.
pub fn reach(interval: &Interval) -> f64 {
    interval.high.ln().max(-interval.low.ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_case_has_its_verdict() {
        let floor = NoiseFloor { relative: 0.02, pairs: 6 };
        for (value, low, high, confidence, want) in [
            (0.80, 0.75, 0.85, 0.95, Difference::Lower),
            (1.20, 1.10, 1.30, 0.95, Difference::Higher),
            (1.01, 1.005, 1.015, 0.95, Difference::WithinNoise),
            (1.03, 0.99, 1.05, 0.95, Difference::WithinNoise),
            (1.03, 0.99, 1.05, 0.75, Difference::Unclear),
            (1.01, 0.80, 1.30, 0.95, Difference::Unclear),
            (1.20, 0.90, 1.50, 0.95, Difference::Unclear),
            (0.80, 0.75, 0.85, 0.75, Difference::Unclear),
        ] {
            let estimate = Estimate { value, interval: Some(Interval { low, high, confidence }) };
            assert_eq!(verdict(&estimate, &floor), want, "{estimate:?}");
        }
        assert_eq!(verdict(&Estimate { value: 0.5, interval: None }, &floor), Difference::Unclear);
    }

    #[test]
    fn large_floor_never_gives_equality() {
        let wide =
            Estimate { value: 1.02, interval: Some(Interval { low: 0.7, high: 1.5, confidence: 0.95 }) };
        let floor = NoiseFloor { relative: 1.64, pairs: 6 };
        assert_eq!(verdict(&wide, &floor), Difference::Unclear);
    }

    proptest! {
        #[test]
        fn no_input_panics(
            relative in prop::num::f64::ANY, pairs in 0..9usize,
            value in prop::num::f64::ANY, low in prop::num::f64::ANY, high in prop::num::f64::ANY,
        ) {
            let floor = NoiseFloor { relative, pairs };
            let got = verdict(&Estimate { value, interval: Some(Interval { low, high, confidence: 0.95 }) }, &floor);
            prop_assert!(got != Difference::Higher || low > 1.0);
        }
    }
}

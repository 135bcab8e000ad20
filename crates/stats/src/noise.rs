//! The noise floor: how large a difference this experiment shows between the baseline and itself.
//! Must not know what the baseline is.

use crate::ratio;

/// A floor that no repeated measurement on a shared machine should go below: 0.5 %.
pub const USUAL_MINIMUM: f64 = 0.005;

/// The relative difference up to which nothing is called a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseFloor {
    /// Relative difference, 0.02 for 2 %.
    pub relative: f64,
    /// Confidence that the interval behind it attains, 0 to 1.
    pub confidence: f64,
    /// Number of baseline pairs it rests on.
    pub pairs: usize,
    /// Whether the minimum, not the measurement, set it.
    pub at_minimum: bool,
}

/// Floor from pairs (baseline, baseline again), one a block: the largest ratio, in either direction, that the interval
/// of [`ratio::paired_ratio`] at `confidence` cannot exclude, as a relative difference; never below `minimum`.
///
/// The interval is that of the estimate over all blocks, so compare estimates over about as many blocks with it.
/// `None` for fewer than two pairs, values that are not finite and positive, a negative minimum, or a confidence
/// outside (0, 1).
pub fn floor(pairs: &[(f64, f64)], confidence: f64, minimum: f64) -> Option<NoiseFloor> {
    let interval = ratio::paired_ratio(pairs, confidence)?.interval?;
    if !(minimum.is_finite() && minimum >= 0.0) {
        return None;
    }
    let seen = interval.high.max(1.0 / interval.low) - 1.0;
    let floor = NoiseFloor {
        relative: seen.max(minimum),
        confidence: interval.confidence,
        pairs: pairs.len(),
        at_minimum: seen < minimum,
    };
    floor.relative.is_finite().then_some(floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_the_larger_side_of_the_interval() {
        let pairs = [(1.0, 1.01), (1.0, 0.99), (1.0, 1.0), (1.0, 1.03), (1.0, 0.98)];
        let got = floor(&pairs, 0.95, 0.005).unwrap();
        assert!((got.relative - 0.03).abs() < 1e-9 && !got.at_minimum);
        assert_eq!((got.confidence, got.pairs), (0.9375, 5));
    }

    #[test]
    fn a_silent_baseline_has_the_minimum() {
        let got = floor(&[(2.0, 2.0), (3.0, 3.0)], 0.95, 0.005).unwrap();
        assert!(got.at_minimum && got.relative == 0.005);
        assert_eq!(floor(&[(2.0, 2.0)], 0.95, 0.005), None);
    }
}

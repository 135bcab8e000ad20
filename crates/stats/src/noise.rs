//! The noise floor: how large a difference this experiment shows between the baseline and itself.
//! Must not know what the baseline is.

use crate::{describe, distribution, ratio};

/// A floor that no repeated measurement on a shared machine should go below: 0.5 %.
pub const USUAL_MINIMUM: f64 = 0.005;

/// A floor that the comparison of two separate runs should not go below: 2 %. A run has placements, addresses and
/// neighbours of its own, of which its own trials know nothing.
pub const USUAL_BETWEEN_RUNS: f64 = 0.02;

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

/// Floor between runs from one value of the same cell in each of several runs of one thing: how far the next run may
/// lie from any of them, by Student's distribution on the logarithms; never below `minimum`. It knows what pairs within
/// a run cannot: what a run has in common with itself.
///
/// `None` for fewer than two runs, values that are not finite and positive, a negative minimum, or a confidence outside
/// (0, 1). Two runs know next to nothing of their spread: have four or more.
pub fn between_runs(values: &[f64], confidence: f64, minimum: f64) -> Option<f64> {
    let fits = values.iter().all(|x| x.is_finite() && *x > 0.0) && minimum.is_finite() && minimum >= 0.0;
    let logs: Vec<f64> = values.iter().filter(|_| fits).map(|x| x.ln()).collect();
    let deviation = describe::stddev(&logs)?;
    let reach = distribution::student_quantile(confidence, (logs.len() - 1) as f64)?;
    let floor = (reach * deviation * std::f64::consts::SQRT_2).exp_m1().max(minimum);
    floor.is_finite().then_some(floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_between_runs_is_what_the_next_one_may_show() {
        // Student's 97.5 % point for 3 degrees of freedom is 3.1824; the deviation of the logarithms 0.02582.
        let runs = [0.97f64, 0.98, 1.01, 1.03].map(|x| x * 40.0);
        let logs = runs.map(f64::ln);
        let want = (3.182_446 * describe::stddev(&logs).unwrap() * 2f64.sqrt()).exp_m1();
        assert!((between_runs(&runs, 0.95, 0.005).unwrap() - want).abs() < 1e-6);
        assert_eq!(between_runs(&[5.0; 4], 0.95, 0.005), Some(0.005));
        assert_eq!((between_runs(&[5.0], 0.95, 0.0), between_runs(&[5.0, 0.0], 0.95, 0.0)), (None, None));
    }

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

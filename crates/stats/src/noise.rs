//! The noise floor, i.e. the difference between the baseline and itself.

use std::f64::consts::{PI, SQRT_2};

use crate::{
    describe, distribution,
    interval::Estimate,
    location::{self, FEWEST},
};

/// Recommended minimum floor for repeated measurements on a shared machine.
pub const USUAL_MINIMUM: f64 = 0.005;

/// Recommended minimum floor between two runs. They may differ in placement, addresses and noisy neighbours.
pub const USUAL_BETWEEN_RUNS: f64 = 0.02;

/// Minimum floor between instruction counts in two boots of an emulated machine. In 15 boots with five labs each, counts
/// differed by up to 0.11 %, and by 0.6 % where the forwarding table of a bridge had collisions.
pub const BETWEEN_BOOTS: f64 = 0.004;

/// Minimum degrees of freedom of a floor.
const LEAST_FREEDOM: f64 = 2.0;

pub const FEWEST_RUNS: usize = 4;
/// A step between runs is a level change if it lasts and is this many times the mean of all other steps.
pub const PLAIN: f64 = 8.0;
/// A run is an outlier if it is more than this many median absolute deviations from the median. In simulations, 1 %
/// of sets of four or five normal values contain an outlier. In larger sets, outliers are rarer.
pub const FAR: f64 = 20.0;
/// Number of runs that a level must last on either side of a change.
pub const STAYED: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseFloor {
    pub relative: f64,
    pub pairs: usize,
}

impl NoiseFloor {
    #[must_use]
    pub fn is_sure(&self) -> bool {
        self.pairs >= FEWEST
    }
}

/// Returns the smallest ratio that `pairs` pairs with this standard deviation of log ratios can distinguish from 1. If
/// the baseline's ratio to itself is larger and its interval excludes 1, returns that ratio. The floor is at least
/// [`USUAL_MINIMUM`].
pub(crate) fn floor(ratio: &Estimate, pairs: usize, scatter: f64, confidence: f64) -> Option<NoiseFloor> {
    if pairs < 2 {
        return None;
    }
    let freedom = location::freedom(pairs).max(LEAST_FREEDOM);
    let visible = distribution::student_quantile(confidence, freedom)? * scatter / (pairs as f64).sqrt();
    let is_apart = ratio.interval.is_some_and(|interval| !interval.contains(1.0));
    let own = if is_apart { ratio.value.ln().abs() } else { 0.0 };
    let relative = visible.max(own).exp_m1().max(USUAL_MINIMUM);
    relative.is_finite().then_some(NoiseFloor { relative, pairs })
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenRuns {
    pub relative: f64,
    pub runs: usize,
    deviation: f64,
    freedom: f64,
}

/// Estimates the expected difference between two runs from a cell's values in successive runs.
///
/// The standard deviation of the logarithms is the mean absolute successive difference divided by 2 / sqrt(pi)
/// (Wheeler & Chambers 2010, chapter 3). Outlying runs ([`FAR`]) and one large difference ([`PLAIN`]) between levels
/// that last for [`STAYED`] runs are left out. The difference uses Student's quantile with the degrees of freedom of
/// this mean (Cryer & Ryan 1990). Returns `None` if there are fewer than [`FEWEST_RUNS`] runs.
pub fn between_runs(values: &[f64], confidence: f64) -> Option<BetweenRuns> {
    let fits = values.len() >= FEWEST_RUNS && values.iter().all(|x| x.is_finite() && *x > 0.0);
    let logs: Vec<f64> = values.iter().filter(|_| fits).map(|x| x.ln()).collect();
    let logs = without_outliers(logs);
    if logs.len() < FEWEST_RUNS {
        return None;
    }
    let steps: Vec<f64> = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let steps = without_a_change(&steps);
    let deviation = describe::mean(&steps)? * PI.sqrt() / 2.0;
    let freedom = freedom(steps.len() + 1);
    let reach = distribution::student_quantile(confidence, freedom)?;
    let relative = (reach * deviation * SQRT_2).exp_m1();
    relative.is_finite().then_some(BetweenRuns { relative, runs: logs.len(), deviation, freedom })
}

impl BetweenRuns {
    pub fn p(&self, ratio: f64) -> f64 {
        if self.deviation == 0.0 {
            return if ratio == 1.0 { 1.0 } else { 0.0 };
        }
        distribution::student_tail(ratio.ln() / (self.deviation * SQRT_2), self.freedom)
    }
}

/// Removes values that are farther than [`FAR`] from the median and differ from it by a factor of two, e.g. because a
/// link was rate-limited. Removes nothing unless most runs agree.
fn without_outliers(logs: Vec<f64>) -> Vec<f64> {
    let Some(middle) = describe::median(&logs) else { return logs };
    let apart: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    // Ratio of the standard deviation to the median absolute deviation for normal values.
    let usual = describe::median(&apart).unwrap_or_default() * 1.4826;
    let reach = (FAR * usual).max(std::f64::consts::LN_2);
    logs.into_iter().filter(|log| usual == 0.0 || (log - middle).abs() <= reach).collect()
}

fn without_a_change(steps: &[f64]) -> Vec<f64> {
    let Some((place, largest)) = steps.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let others: Vec<f64> =
        steps.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, step)| *step).collect();
    let stayed = place + 1 >= STAYED && steps.len() - place >= STAYED;
    let plain = describe::mean(&others).is_some_and(|usual| largest > PLAIN * usual);
    if stayed && plain { others } else { steps.to_vec() }
}

/// Degrees of freedom of the mean absolute successive difference, from the chi-square distribution with the same
/// relative variance.
fn freedom(values: usize) -> f64 {
    let n = values as f64;
    let squared_mean = 4.0 / PI;
    let covariance = squared_mean * (0.75f64.sqrt() + 0.5f64.asin() / 2.0 - 1.0);
    let variance = (n - 1.0) * (2.0 - squared_mean) + 2.0 * (n - 2.0) * covariance;
    (n - 1.0).powi(2) * squared_mean / (2.0 * variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(values: &[f64]) -> f64 {
        between_runs(values, 0.95).unwrap().relative
    }

    #[test]
    fn outlying_runs_do_not_affect_the_noise() {
        let quiet = [1.0, 1.01, 0.99, 1.005];
        let limited = [1.0, 0.008, 1.01, 0.0081, 0.99, 1.005];
        assert!(learned(&limited) < 0.1 && learned(&quiet) < 0.1);
        assert_eq!(between_runs(&[1.0, 1.01, 0.99, 0.008, 0.0081], 0.95), None, "three are too few");
    }

    /// The viscosities of fifteen batches of paint have a mean moving range of 0.48 (Montgomery, Introduction to
    /// Statistical Quality Control, section 6.4).
    #[test]
    fn deviation_matches_published_chart() {
        let batches = [
            33.75, 33.05, 34.00, 33.81, 33.46, 34.02, 33.68, 33.27, 33.49, 33.20, 33.62, 33.00, 33.54, 33.12,
            33.84,
        ];
        let got = between_runs(&batches, 0.95).unwrap();
        let want = 0.4807 / 1.128 / 33.52;
        assert!((got.deviation / want - 1.0).abs() < 1e-2 && got.runs == 15, "{got:?} {want}");
    }

    #[test]
    fn lasting_level_change_barely_affects_the_noise() {
        let steady =
            |level: f64, n: usize| (0..n).map(move |at| level * if at % 2 == 0 { 1.0 } else { 1.004 });
        let before: Vec<f64> = steady(40.0, 10).collect();
        let changed: Vec<f64> = steady(40.0, 5).chain(steady(36.0, 5)).collect();
        assert!(learned(&changed) < 1.1 * learned(&before), "{} {}", learned(&changed), learned(&before));
        // A single outlying run is not a change of level.
        for place in [0, 5, 9] {
            let mut off = before.clone();
            off[place] = 36.0;
            assert!(learned(&off) > 2.5 * learned(&before), "{place}: {}", learned(&off));
        }
        let drift: Vec<f64> = (0..10).map(|at| 40.0 * 1.004f64.powi(at)).collect();
        assert!((learned(&drift) / learned(&before) - 1.0).abs() < 0.05, "{}", learned(&drift));
    }

    #[test]
    fn few_runs_widen_the_noise_and_three_give_none() {
        let runs: Vec<f64> = (0..11).map(|at| if at % 2 == 0 { 1.0 } else { 1.01 }).collect();
        assert!(
            learned(&runs[..4]) > 1.5 * learned(&runs[..7]) && learned(&runs[..7]) > 1.1 * learned(&runs)
        );
        assert_eq!((between_runs(&runs[..3], 0.95), between_runs(&[1.0, 1.0, 0.0, 1.0], 0.95)), (None, None));
        assert_eq!(learned(&[5.0; 4]), 0.0);
    }

    #[test]
    fn p_at_the_floor_complements_the_confidence() {
        let got = between_runs(&[1.0, 1.03, 0.98, 1.01, 1.02], 0.95).unwrap();
        for ratio in [1.0 + got.relative, 1.0 / (1.0 + got.relative)] {
            assert!((got.p(ratio) - 0.05).abs() < 1e-9);
        }
        assert!(got.p(1.0) > 0.999 && got.p(2.0) < 0.01);
    }

    #[test]
    fn equal_runs_give_differences_zero_p() {
        let got = BetweenRuns { relative: 0.0, runs: 5, deviation: 0.0, freedom: 3.0 };
        assert_eq!((got.p(1.0), got.p(1.1), got.p(0.9)), (1.0, 0.0, 0.0));
    }

    fn of(ratios: &[f64], scatter: f64) -> Option<NoiseFloor> {
        let pairs: Vec<(f64, f64)> = ratios.iter().map(|ratio| (2.0, 2.0 * ratio)).collect();
        floor(&crate::fit::paired_ratio(&pairs, scatter, 0.95)?, pairs.len(), scatter, 0.95)
    }

    #[test]
    fn floor_is_the_resolution_or_an_established_shift() {
        let about = |middle: f64| [0.99, 1.01, 1.0, 0.995, 1.005, 1.0].map(|off| middle * off);
        let steady = of(&about(1.0), 0.01).unwrap();
        let visible =
            distribution::student_quantile(0.95, location::freedom(6)).unwrap() * 0.01 / 6f64.sqrt();
        assert!(steady.is_sure() && (steady.relative - visible.exp_m1()).abs() < 1e-9, "{steady:?}");
        assert!((steady.relative - 0.0121).abs() < 1e-3, "{steady:?}");
        let shifted = of(&about(1.1), 0.01).unwrap();
        assert!((shifted.relative - 0.1).abs() < 0.01, "{shifted:?}");
    }

    #[test]
    fn disturbed_pair_barely_changes_the_floor() {
        let mut ratios = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0];
        let before = of(&ratios, 0.015).unwrap().relative;
        ratios[3] = 3.0;
        let after = of(&ratios, 0.015).unwrap().relative;
        assert!(after < 1.3 * before && after > 0.8 * before, "{before} {after}");
    }

    #[test]
    fn noisy_repetitions_do_not_raise_the_floor() {
        let got = of(&[1.0, 0.35, 1.01, 0.33, 1.02, 0.98], 0.015).unwrap();
        assert!(got.relative < 0.02, "{got:?}");
    }

    #[test]
    fn steady_baseline_has_the_minimum_floor() {
        assert_eq!(of(&[1.0; 6], 0.001).unwrap().relative, USUAL_MINIMUM);
        assert_eq!(of(&[1.0], 0.001), None);
        let few = of(&[1.0, 1.01, 0.99], 0.01).unwrap();
        assert!(!few.is_sure() && few.relative > 0.02, "{few:?}");
    }
}

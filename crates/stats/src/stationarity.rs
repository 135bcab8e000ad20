//! Classifies a time series as steady, drifting, shifting between levels, or a random walk.

use crate::{
    describe,
    levels::{self, Level},
};

/// Minimum drift over the whole series, as a fraction of the mean. Smaller ones are ignored, however certain.
pub const LEAST_DRIFT: f64 = 0.05;

/// Penalty of a slope, in units of ln n, like that of a change point in [`levels::levels`].
const SLOPE: f64 = 3.0;
/// Penalty of a jump. It is higher because the jump's position was also searched for.
const JUMP: f64 = 5.0;
/// Upper limit for the estimated autocorrelation. Beyond it, no level is left to detect.
const MOST_LIKENESS: f64 = 0.97;
/// Sums of squares below this are rounding errors.
const LEAST_SQUARES: f64 = 1e-300;

#[derive(Debug, Clone, PartialEq)]
pub enum Stationarity {
    Steady,
    /// The best straight line goes from the first value to the second.
    Drift {
        from: f64,
        to: f64,
    },
    /// The series jumps between at least two levels.
    Levels(Vec<Level>),
    /// The series wanders between these values, but its autocorrelation explains that without jumps.
    Unsteady {
        low: f64,
        high: f64,
    },
}

/// Classifies a series.
///
/// Compares three models: one level, a straight line, and the levels that [`levels::levels`] finds, each with
/// autocorrelated errors (a first-order chain), by n ln(s / n) + k ln n. Here s is the sum of squared prediction
/// errors of the chain, and k is 0 for one level, 3 for a line and 5 for each jump. A series that autocorrelation
/// explains needs no jumps, although change-point detection for independent noise would find some (Shi, Gallagher,
/// Lund & Killick, Environmetrics 33, 2022).
pub fn stationarity(values: &[f64]) -> Option<Stationarity> {
    let found = levels::levels(values)?;
    if values.len() < 2 * levels::FEWEST {
        return Some(Stationarity::Steady);
    }
    let values = levels::clipped(values)?;
    let mean = describe::mean(&values)?;
    let line = Line::through(&values, mean);
    let level = cost(&values, |_| mean, 0.0);
    let drift = cost(&values, |at| line.at(at), SLOPE);
    let jumps = jumps(&values, &found);
    if jumps.is_some_and(|jumps| jumps < level.min(drift)) {
        return Some(Stationarity::Levels(found));
    }
    if drift < level {
        let (from, to) = (line.at(0), line.at(values.len() - 1));
        let much = (to - from).abs() >= LEAST_DRIFT * mean.abs();
        return Some(if much { Stationarity::Drift { from, to } } else { Stationarity::Steady });
    }
    let ends = found.iter().map(|level| level.value);
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    Some(if found.len() > 1 { Stationarity::Unsteady { low, high } } else { Stationarity::Steady })
}

/// Cost of the levels as a model. `None` for a single level.
fn jumps(values: &[f64], found: &[Level]) -> Option<f64> {
    let means: Option<Vec<f64>> =
        found.iter().map(|level| describe::mean(&values[level.start..level.end])).collect();
    let means = means.filter(|means| means.len() > 1)?;
    let mut expected = Vec::with_capacity(values.len());
    for (level, mean) in found.iter().zip(means) {
        expected.resize(level.end, mean);
    }
    Some(cost(values, |at| expected[at], JUMP * (found.len() - 1) as f64))
}

/// Cost of a model: its misfit plus the penalty for its parameters.
fn cost(values: &[f64], expected: impl Fn(usize) -> f64, penalty: f64) -> f64 {
    let errors: Vec<f64> = values.iter().enumerate().map(|(at, value)| value - expected(at)).collect();
    let n = errors.len() as f64;
    let square = |errors: &[f64]| errors.iter().map(|error| error * error).sum::<f64>();
    let together: f64 = errors.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let before = square(&errors[..errors.len() - 1]);
    let likeness = if before > 0.0 { (together / before).clamp(0.0, MOST_LIKENESS) } else { 0.0 };
    let unforeseen: Vec<f64> = errors.windows(2).map(|pair| pair[1] - likeness * pair[0]).collect();
    let first = errors[0] * errors[0] * (1.0 - likeness * likeness);
    let rest = (first + square(&unforeseen)).max(LEAST_SQUARES);
    n * (rest / n).ln() - (1.0 - likeness * likeness).ln() + penalty * n.ln()
}

struct Line {
    middle: f64,
    mean: f64,
    slope: f64,
}

impl Line {
    fn through(values: &[f64], mean: f64) -> Self {
        let middle = (values.len() - 1) as f64 / 2.0;
        let (products, squares) =
            values.iter().enumerate().fold((0.0, 0.0), |(products, squares), (at, value)| {
                let away = at as f64 - middle;
                (products + away * (value - mean), squares + away * away)
            });
        Self { middle, mean, slope: if squares > 0.0 { products / squares } else { 0.0 } }
    }

    fn at(&self, at: usize) -> f64 {
        self.mean + self.slope * (at as f64 - self.middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn errors(rng: &mut Pcg64Mcg, n: usize, carry: f64) -> Vec<f64> {
        let mut draw = || normal_quantile(rng.random_range(1e-9..1.0));
        let mut error = draw();
        let mut next = || {
            error = carry * error + (1.0 - carry * carry).sqrt() * draw();
            error
        };
        (0..n).map(|_| next()).collect()
    }

    /// Number of series, out of 400, that are steady, drifting, level shifts, and unsteady.
    fn counts(n: usize, carry: f64, value: impl Fn(usize, f64) -> f64) -> [usize; 4] {
        let mut rng = Pcg64Mcg::seed_from_u64(n as u64);
        let mut found = [0; 4];
        for _ in 0..400 {
            let values: Vec<f64> =
                errors(&mut rng, n, carry).iter().enumerate().map(|(at, error)| value(at, *error)).collect();
            found[match stationarity(&values).unwrap() {
                Stationarity::Steady => 0,
                Stationarity::Drift { .. } => 1,
                Stationarity::Levels(_) => 2,
                Stationarity::Unsteady { .. } => 3,
            }] += 1;
        }
        found
    }

    #[test]
    fn autocorrelated_noise_has_jumps_in_at_most_five_percent() {
        for (scatter, carry) in [(0.05, 0.0), (0.15, 0.3), (0.15, 0.6), (0.05, 0.8), (0.15, 0.8)] {
            for n in [20, 30, 60, 100, 300] {
                let [_, drifting, jumping, _] = counts(n, carry, |_, error| 1.0 + scatter * error);
                let context =
                    format!("scatter {scatter}, carry {carry}, n = {n}: {jumping}, {drifting} of 400");
                assert!(jumping <= 20 && drifting <= 20, "{context}");
            }
        }
    }

    /// 60 rates in Gbit/s with autocorrelated noise (carry 0.8, scatter 15 %), in which change-point detection alone
    /// finds a jump.
    #[test]
    fn autocorrelated_wave_is_not_a_jump() {
        let text = include_str!("../tests/reference/wave.tsv");
        let wave: Vec<f64> = text.split_whitespace().map(|rate| rate.parse().unwrap()).collect();
        assert_eq!(levels::levels(&wave).unwrap().len(), 2);
        assert!(
            matches!(stationarity(&wave), Some(Stationarity::Unsteady { .. })),
            "{:?}",
            stationarity(&wave)
        );
    }

    #[test]
    fn drift_is_not_a_jump() {
        for (change, scatter, n) in [(0.2, 0.02, 60), (0.1, 0.02, 60), (0.4, 0.05, 60), (0.2, 0.02, 20)] {
            let line =
                |at: usize, error: f64| (1.0 + scatter * error) * (1.0 - change * at as f64 / n as f64);
            let [_, drifting, jumping, _] = counts(n, 0.0, line);
            assert!(drifting >= 360 && jumping <= 8, "{change} in {n}: {drifting}, {jumping} of 400");
        }
        let values: Vec<f64> = (0..60).map(|at| 10.0 - f64::from(at) / 30.0).collect();
        let Some(Stationarity::Drift { from, to }) = stationarity(&values) else {
            panic!("{:?}", stationarity(&values))
        };
        assert!((from - 10.0).abs() < 0.05 && (to - 8.03).abs() < 0.05, "{from} to {to}");
    }

    #[test]
    fn jump_is_not_a_drift() {
        for (scatter, carry, n) in [(0.05, 0.0, 60), (0.05, 0.6, 60), (0.05, 0.3, 100)] {
            let jump = |at: usize, error: f64| (1.0 + scatter * error) * if at < n / 3 { 1.0 } else { 1.3 };
            let [_, drifting, jumping, _] = counts(n, carry, jump);
            assert!(jumping >= 390 && drifting <= 4, "carry {carry}, n = {n}: {jumping}, {drifting} of 400");
        }
        let step = [[5.0; 20], [9.0; 20]].concat();
        assert!(matches!(stationarity(&step), Some(Stationarity::Levels(levels)) if levels.len() == 2));
    }

    #[test]
    fn alternating_series_has_no_single_level() {
        let saw: Vec<f64> = (0..300).map(|at| 60.0 + f64::from(at % 30)).collect();
        assert!(
            matches!(stationarity(&saw), Some(Stationarity::Unsteady { .. } | Stationarity::Steady)),
            "{:?}",
            stationarity(&saw)
        );
    }

    #[test]
    fn few_or_constant_values_are_steady() {
        assert_eq!(stationarity(&[1.0, 9.0]), Some(Stationarity::Steady));
        assert_eq!(stationarity(&[5.0; 50]), Some(Stationarity::Steady));
        assert_eq!((stationarity(&[]), stationarity(&[f64::NAN; 20])), (None, None));
    }

    proptest! {
        #[test]
        fn no_input_panics(v in prop::collection::vec(prop::num::f64::ANY, 0..60)) {
            let _ = stationarity(&v);
        }
    }
}

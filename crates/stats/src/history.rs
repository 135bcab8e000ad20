//! Levels or drift of a result over successive runs, and the expected range of the next run.

use crate::{
    describe,
    distribution::{student_quantile, student_tail},
    interval::Interval,
    levels::{self, Level},
    location::LEAST_SCATTER,
};

/// Minimum number of runs at a level.
pub const FEWEST: usize = 4;
pub const FEWEST_RUNS: usize = 2 * FEWEST;
/// Minimum relative size of a shift or drift. Smaller ones are ignored, even if they are significant.
pub const LEAST_CHANGE: f64 = 0.03;
pub const FEWEST_TO_PREDICT: usize = 4;

/// Minimum gain in twice the log likelihood for a shift between levels of independent runs. In simulations, 1 in
/// 200 series of 20 to 50 independent runs, or of 50 runs with a correlation of 0.5, exceeded it.
const INDEPENDENT_GAIN: f64 = 9.1;
/// Penalty for correlation within the levels, as a multiple of the gain from modelling that correlation.
const CORRELATION_COST: f64 = 2.0;
/// Like [`INDEPENDENT_GAIN`], for runs that follow a first-order autoregression.
const DEPENDENT_GAIN: f64 = 18.0;
/// Minimum gain of a drift over a single level: a constant, and an increment per run.
const DRIFT_GAIN: (f64, f64) = (10.0, 0.06);
/// Grid for the correlation between successive runs.
const CORRELATIONS: [f64; 10] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

#[derive(Debug, Clone, PartialEq)]
pub enum Course {
    /// At least one level.
    Levels(Vec<Level>),
    /// A steady change between the fitted values of the first and the last run.
    Drift { first: f64, last: f64 },
}

/// Fits levels or a drift to the values of successive runs (docs/methods/comparisons.md).
///
/// [`levels::levels`] finds large shifts. Smaller apparent shifts may come from a wandering series, so they must
/// explain the logarithms much better than a single level with a first-order autoregression. A drift replaces the
/// levels if it fits better for its number of parameters (Schwarz 1978).
#[must_use]
pub fn course(values: &[f64]) -> Option<Course> {
    let large = levels::levels(values)?;
    let Some(logs) = logarithms(values) else { return Some(Course::Levels(large)) };
    let mut edges = vec![0];
    for level in &large {
        split(&logs, level.start, level.end, &mut edges);
    }
    let found = edges.windows(2).map(|pair| level(values, pair[0], pair[1])).collect::<Option<Vec<_>>>()?;
    Some(drift(&logs, &found).unwrap_or(Course::Levels(found)))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    log: f64,
    deviation: f64,
    freedom: f64,
    pub runs: usize,
}

/// Predicts the next of these runs: the mean of the logarithms, with Student's prediction interval (deviation s
/// sqrt(1 + 1/k)). Returns `None` for fewer than [`FEWEST_TO_PREDICT`] positive values.
#[must_use]
pub fn next(values: &[f64]) -> Option<Next> {
    let logs: Option<Vec<f64>> = values.iter().map(|value| (*value > 0.0).then(|| value.ln())).collect();
    let logs = logs.filter(|logs| logs.len() >= FEWEST_TO_PREDICT)?;
    let (n, mean) = (logs.len() as f64, describe::mean(&logs)?);
    let deviation = describe::stddev(&logs)?.max(LEAST_SCATTER);
    let deviation = deviation * (1.0 + n.recip()).sqrt();
    let fits = mean.is_finite() && deviation.is_finite();
    fits.then_some(Next { log: mean, deviation, freedom: n - 1.0, runs: logs.len() })
}

impl Next {
    #[must_use]
    pub fn middle(&self) -> f64 {
        self.log.exp()
    }

    #[must_use]
    pub fn range(&self, confidence: f64) -> Option<Interval> {
        let half = student_quantile(confidence, self.freedom)? * self.deviation;
        Some(Interval { low: (self.log - half).exp(), high: (self.log + half).exp(), confidence })
    }

    /// Returns the probability that an unchanged run is at least as far from the prediction as this value.
    #[must_use]
    pub fn p(&self, value: f64) -> f64 {
        student_tail((value.ln() - self.log) / self.deviation, self.freedom)
    }
}

/// Returns logarithms without isolated outliers, or `None` if a value is not positive.
fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    (values.len() >= FEWEST_RUNS && logs.iter().all(|log| log.is_finite())).then_some(())?;
    levels::clipped(&logs)
}

fn split(logs: &[f64], start: usize, end: usize, edges: &mut Vec<usize>) {
    match shift(&logs[start..end]) {
        Some(place) => {
            split(logs, start, start + place, edges);
            split(logs, start + place, end, edges);
        }
        None => edges.push(end),
    }
}

/// Finds the position of a shift. The penalty for the position is from Zhang and Siegmund, Biometrics 63, 2007.
fn shift(logs: &[f64]) -> Option<usize> {
    (logs.len() >= FEWEST_RUNS).then_some(())?;
    let n = logs.len() as f64;
    let one = Fit::of(logs, None).dependent;
    let fits = (FEWEST..=logs.len() - FEWEST).map(|place| (place, Fit::of(logs, Some(place))));
    let costs: Vec<(usize, f64, f64)> = fits
        .map(|(place, fit)| {
            let correlation = CORRELATION_COST * (fit.independent - fit.dependent);
            let of_place = (place as f64 * (1.0 - place as f64 / n)).ln();
            (place, fit.independent + correlation + of_place, fit.dependent)
        })
        .collect();
    let independent = costs.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let dependent = costs.iter().min_by(|a, b| a.2.total_cmp(&b.2))?;
    let place = if one - independent.1 > INDEPENDENT_GAIN {
        independent.0
    } else {
        (one - dependent.2 > DEPENDENT_GAIN).then_some(dependent.0)?
    };
    let size = describe::mean(&logs[place..])? - describe::mean(&logs[..place])?;
    (size.abs() >= LEAST_CHANGE.ln_1p()).then_some(place)
}

/// Minus twice the log likelihood of a single level, or of two levels with a change at a given position.
struct Fit {
    independent: f64,
    dependent: f64,
}

impl Fit {
    fn of(logs: &[f64], place: Option<usize>) -> Self {
        let of = |correlation: f64| deviance(logs, place, correlation);
        let dependent = CORRELATIONS.into_iter().map(of).fold(f64::INFINITY, f64::min);
        Self { independent: of(0.0), dependent }
    }
}

/// Exact Gaussian deviance, up to a constant, of a first-order autoregression around one or two least-squares levels
/// (Brockwell and Davis, Time Series: Theory and Methods, 2nd ed. 1991, section 8.7).
fn deviance(logs: &[f64], place: Option<usize>, correlation: f64) -> f64 {
    let n = logs.len() as f64;
    let first = (1.0 - correlation * correlation).sqrt();
    let step = |at: usize| f64::from(u8::from(place.is_some_and(|place| at >= place)));
    let row = |at: usize| match at.checked_sub(1) {
        None => [first, first * step(0), 0.0],
        Some(before) => [
            1.0 - correlation,
            step(at) - correlation * step(before),
            logs[at] - logs[0] - correlation * (logs[before] - logs[0]),
        ],
    };
    let mut sums = [[0.0; 3]; 3];
    for at in 0..logs.len() {
        let row = row(at);
        for (sums, x) in sums.iter_mut().zip(row) {
            for (sum, y) in sums.iter_mut().zip(row) {
                *sum += x * y;
            }
        }
    }
    let [[aa, ab, ay], [_, bb, by], [_, _, yy]] = sums;
    let squares = if place.is_none() {
        yy - ay * ay / aa
    } else {
        let (a, b) = (ay * bb - by * ab, aa * by - ab * ay);
        yy - (a * ay + b * by) / (aa * bb - ab * ab)
    };
    penalised(squares, n) - (1.0 - correlation * correlation).ln()
}

/// The variance has a minimum, because equal values may be due to rounding.
fn penalised(squares: f64, n: f64) -> f64 {
    n * (squares.max(0.0) + n * LEAST_SCATTER.powi(2)).ln()
}

fn drift(logs: &[f64], levels: &[Level]) -> Option<Course> {
    let n = logs.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let mean = describe::mean(logs)?;
    let off = |at: usize| at as f64 - middle;
    let spread: f64 = (0..logs.len()).map(|at| off(at).powi(2)).sum();
    let slope = logs.iter().enumerate().map(|(at, log)| off(at) * (log - mean)).sum::<f64>() / spread;
    let line: f64 = logs.iter().enumerate().map(|(at, log)| (log - mean - slope * off(at)).powi(2)).sum();
    let stairs: f64 = levels.iter().map(|level| squares(&logs[level.start..level.end])).sum();
    // Each shift adds a position and a size.
    let parameters = 1.0 + 2.0 * (levels.len() as f64 - 1.0);
    let gain = penalised(stairs, n) + parameters * n.ln() - penalised(line, n) - 2.0 * n.ln();
    let least = if levels.len() > 1 { 0.0 } else { DRIFT_GAIN.0 + DRIFT_GAIN.1 * n };
    let change = slope * (n - 1.0);
    (gain > least && change.abs() >= LEAST_CHANGE.ln_1p())
        .then(|| Course::Drift { first: (mean - change / 2.0).exp(), last: (mean + change / 2.0).exp() })
}

fn squares(logs: &[f64]) -> f64 {
    let mean = describe::mean(logs).unwrap_or_default();
    logs.iter().map(|log| (log - mean).powi(2)).sum()
}

fn level(values: &[f64], start: usize, end: usize) -> Option<Level> {
    Some(Level { start, end, value: describe::median(&values[start..end])? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn runs(rng: &mut Pcg64Mcg, n: usize, carry: f64, of: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut error = 0.0;
        let mut one = |at: usize| {
            let normal = normal_quantile(rng.random_range(1e-9..1.0));
            error = if at == 0 { normal } else { carry * error + (1.0 - carry * carry).sqrt() * normal };
            of(at) * (0.02 * error).exp()
        };
        (0..n).map(&mut one).collect()
    }

    fn levels_of(values: &[f64]) -> usize {
        match course(values) {
            Some(Course::Levels(levels)) => levels.len(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn small_shift_is_found_within_five_runs() {
        let mut rng = Pcg64Mcg::seed_from_u64(11);
        let found = (0..40).filter(|_| {
            let values = runs(&mut rng, 45, 0.0, |at| if at < 40 { 10.0 } else { 9.3 });
            levels_of(&values) == 2
        });
        assert!(found.count() >= 38);
    }

    #[test]
    fn steady_and_wandering_runs_have_one_level() {
        let mut rng = Pcg64Mcg::seed_from_u64(12);
        for (carry, most) in [(0.0, 1), (0.5, 3)] {
            let alarms = (0..60).filter(|_| levels_of(&runs(&mut rng, 50, carry, |_| 10.0)) > 1);
            let alarms = alarms.count();
            assert!(alarms <= most, "carry {carry}: {alarms}");
        }
    }

    #[test]
    fn slow_change_is_a_drift_and_a_sudden_one_is_not() {
        let mut rng = Pcg64Mcg::seed_from_u64(13);
        for _ in 0..20 {
            let values = runs(&mut rng, 40, 0.0, |at| 10.0 * (1.0 - 0.005 * at as f64));
            let Some(Course::Drift { first, last }) = course(&values) else { panic!("{values:?}") };
            assert!((last / first - 0.82).abs() < 0.06, "{first} {last}");
            let values = runs(&mut rng, 40, 0.0, |at| if at < 20 { 10.0 } else { 8.2 });
            assert_eq!(levels_of(&values), 2);
        }
    }

    #[test]
    fn isolated_outlier_and_few_or_equal_runs_are_one_level() {
        let mut rng = Pcg64Mcg::seed_from_u64(14);
        let split = (0..20).filter(|_| {
            let mut values = runs(&mut rng, 30, 0.0, |_| 10.0);
            values[29] = 5.0;
            levels_of(&values) > 1
        });
        assert!(split.count() <= 1);
        assert_eq!((levels_of(&[5.0; 30]), levels_of(&[5.0, 9.0, 5.0])), (1, 1));
        assert_eq!(course(&[]), None);
    }

    #[test]
    fn next_run_is_expected_within_the_prediction_interval() {
        // t(3, 95 %) = 3.182, s = 0.01 and sqrt(1 + 1/4) = 1.118 for these logarithms.
        let off = 0.01 * (0.75f64).sqrt();
        let values = [1.0, 1.0, -1.0, -1.0].map(|sign: f64| 10.0 * (sign * off).exp());
        let got = next(&values).unwrap();
        let interval = got.range(0.95).unwrap();
        assert!((got.middle() - 10.0).abs() < 1e-9 && (got.p(interval.high) - 0.05).abs() < 1e-6);
        assert!(((interval.high / 10.0).ln() - 0.03558).abs() < 1e-4, "{interval:?}");
        assert_eq!((next(&values[..3]), next(&[1.0, 1.0, 1.0, 0.0])), (None, None));
    }

    proptest! {
        #[test]
        fn levels_cover_all_runs(values in prop::collection::vec(prop::num::f64::ANY, 0..40)) {
            if let Some(Course::Levels(found)) = course(&values) {
                prop_assert_eq!((found[0].start, found[found.len() - 1].end), (0, values.len()));
                prop_assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
            let _ = next(&values).and_then(|next| next.range(0.95));
        }
    }
}

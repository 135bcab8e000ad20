//! Robust average of logarithms, and the influence of each block.

use std::collections::BTreeMap;

use crate::{
    describe,
    distribution::student_quantile,
    interval::{Estimate, Interval},
};

pub type Blocks = BTreeMap<u32, f64>;

/// Minimum number of values for a biweight and an interval. With fewer, a disturbed value cannot be detected.
pub const FEWEST: usize = 5;
/// Minimum standard deviation of logarithms (0.1 %), because equal values may be due to rounding.
pub const LEAST_SCATTER: f64 = 0.001;

const NORMAL_MAD: f64 = 0.674_489_75;
/// Values beyond this many standard deviations of the workload may be ignored.
const CUT_BY_SHARED: f64 = 6.0;
/// Ignored values must also be beyond this many standard deviations of the values themselves.
const CUT_BY_OWN: f64 = 9.0;
/// Cutoff for possibly bimodal values, as a multiple of the third quartile of the distances from the median.
const CUT_BY_MODES: f64 = 4.0;
/// Degrees of freedom of a biweight's error, as a fraction of n - 1 (Kafadar 1982).
const FREEDOM: f64 = 0.7;
/// Standard error of the median of three or four normal values, divided by the standard error of the mean.
const MEDIAN_ERROR: f64 = 1.16;
const FEWEST_UNPAIRED: usize = 2;
const MOST_STEPS: usize = 50;

/// Tukey's biweight of logarithms (Mosteller and Tukey 1977), or the median of fewer than [`FEWEST`] values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Location {
    pub(crate) value: f64,
    pub(crate) n: usize,
    pub(crate) weight: f64,
    /// Effect of each block's value on the location. The sum of squares is the variance.
    pub(crate) influence: Blocks,
}

impl Location {
    /// For values such as ratios to the baseline, nearly half of which may be disturbed. `scatter` is the workload's
    /// typical standard deviation.
    pub(crate) fn of(logs: &Blocks, scatter: f64) -> Option<Self> {
        Self::within(logs, CUT_BY_SHARED * scatter)
    }

    /// For values that may be bimodal. Includes both modes if each has at least a quarter of the values.
    pub(crate) fn of_modes(logs: &Blocks, scatter: f64) -> Option<Self> {
        let values: Vec<f64> = logs.values().copied().collect();
        let middle = describe::median(&values)?;
        let off: Vec<f64> = values.iter().map(|log| (log - middle).abs()).collect();
        let modes = CUT_BY_MODES * describe::quantile(&off, 0.75)?;
        Self::within(logs, modes.max(CUT_BY_SHARED * scatter))
    }

    fn within(logs: &Blocks, least_cut: f64) -> Option<Self> {
        let values: Vec<f64> = logs.values().copied().collect();
        let middle = describe::median(&values)?;
        if values.len() < FEWEST {
            let share = MEDIAN_ERROR / values.len() as f64 * correction(values.len());
            let mean = describe::mean(&values)?;
            let influence = logs.iter().map(|(block, log)| (*block, share * (log - mean))).collect();
            return Some(Self { value: middle, n: values.len(), weight: values.len() as f64, influence });
        }
        let own = lower_median(values.iter().map(|log| (log - middle).abs())) / NORMAL_MAD;
        let cut = least_cut.max(CUT_BY_OWN * own).max(LEAST_SCATTER);
        let value = biweight(&values, middle, cut);
        let near =
            || logs.iter().filter_map(|(block, log)| Some((block, log - value, share(log - value, cut)?)));
        let slope: f64 = near().map(|(.., square)| (1.0 - square) * (1.0 - 5.0 * square)).sum();
        let moved = |off: f64, square: f64| off * (1.0 - square).powi(2) / slope.max(1.0);
        Some(Self {
            value,
            n: values.len(),
            weight: near().map(|(.., square)| (1.0 - square).powi(2)).sum(),
            influence: near().map(|(block, off, square)| (*block, moved(off, square))).collect(),
        })
    }

    pub(crate) fn variance(&self) -> f64 {
        self.influence.values().map(|it| it * it).sum()
    }
}

pub(crate) fn freedom(n: usize) -> f64 {
    FREEDOM * (n as f64 - 1.0)
}

fn correction(n: usize) -> f64 {
    let n = n as f64;
    (n / (n - 1.0).max(1.0)).sqrt()
}

/// Drops values that are not positive, because they have no ratio.
pub(crate) fn logarithms(values: &Blocks) -> Blocks {
    let logs = values.iter().map(|(block, value)| (*block, value.ln()));
    logs.filter(|(_, log)| log.is_finite()).collect()
}

/// Returns a robust standard deviation of logarithms: the median absolute deviation from the group's median, across all
/// groups, scaled for normal values. It is at least [`LEAST_SCATTER`], or `None` if no group has two values.
pub(crate) fn scatter<'a>(groups: impl IntoIterator<Item = &'a Blocks>) -> Option<f64> {
    let mut deviations = Vec::new();
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let logs: Vec<f64> = group.values().copied().collect();
        let middle = describe::median(&logs)?;
        // The median of a few values is closer to them than the true median is.
        deviations.extend(logs.iter().map(|log| correction(logs.len()) * (log - middle).abs()));
    }
    Some((describe::median(&deviations)? / NORMAL_MAD).max(LEAST_SCATTER))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    pub(crate) log: f64,
    pub(crate) variance: f64,
    pub(crate) freedom: f64,
    pub(crate) n: usize,
}

impl Level {
    /// Creates a level from positive values that share no blocks with the rest of the workload.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let logs = numbered(values);
        let location = Location::of_modes(&logs, scatter([&logs]).unwrap_or(LEAST_SCATTER))?;
        Some(Self::new(location.value, location.variance(), location.n))
    }

    pub(crate) fn new(log: f64, variance: f64, n: usize) -> Self {
        let freedom = if n < FEWEST { n as f64 - 1.0 } else { freedom(n) };
        Self { log, variance, freedom, n }
    }

    #[must_use]
    pub fn estimate(&self, confidence: f64) -> Option<Estimate> {
        let quantile = (self.n >= FEWEST).then(|| student_quantile(confidence, self.freedom)).flatten();
        estimate(self.log, quantile.map(|quantile| quantile * self.variance.sqrt()), confidence)
    }

    /// Returns the ratio to an independent level. The interval is Welch's for unequal variances (Biometrika 34,
    /// 1947), and needs two values on each side.
    #[must_use]
    pub fn ratio(&self, reference: &Self, confidence: f64) -> Option<Estimate> {
        let variance = |it: &Self| it.variance.max(LEAST_SCATTER.powi(2) / it.n as f64);
        let (own, other) = (variance(self), variance(reference));
        let freedom =
            (own + other).powi(2) / (own.powi(2) / self.freedom + other.powi(2) / reference.freedom);
        let half = student_quantile(confidence, freedom)
            .filter(|_| self.n.min(reference.n) >= FEWEST_UNPAIRED)
            .map(|quantile| quantile * (own + other).sqrt());
        estimate(self.log - reference.log, half, confidence)
    }
}

fn numbered(values: &[f64]) -> Blocks {
    logarithms(&(0u32..).zip(values.iter().copied()).collect())
}

pub(crate) fn estimate(log: f64, half: Option<f64>, confidence: f64) -> Option<Estimate> {
    let interval =
        half.map(|half| Interval { low: (log - half).exp(), high: (log + half).exp(), confidence });
    let fits = |x: f64| x.is_finite() && x > 0.0;
    let all = fits(log.exp()) && interval.is_none_or(|it| fits(it.low) && fits(it.high));
    all.then(|| Estimate { value: without_rounding_error(log.exp()), interval })
}

/// Rounds to twelve digits, so that the location of a single value equals that value.
fn without_rounding_error(value: f64) -> f64 {
    let scale = 10f64.powi(11 - value.log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() && rounded > 0.0 { rounded } else { value }
}

/// Returns the lower of the two middle values. If three of six values are disturbed, the upper one is disturbed, too.
fn lower_median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

fn share(off: f64, cut: f64) -> Option<f64> {
    Some((off / cut).powi(2)).filter(|square| *square < 1.0)
}

fn weight(off: f64, cut: f64) -> f64 {
    share(off, cut).map_or(0.0, |square| (1.0 - square).powi(2))
}

fn biweight(logs: &[f64], middle: f64, cut: f64) -> f64 {
    let mut value = middle;
    for _ in 0..MOST_STEPS {
        let weights = logs.iter().map(|log| weight(log - value, cut));
        let (sum, all) = weights
            .zip(logs)
            .fold((0.0, 0.0), |(sum, all), (weight, log)| (sum + weight * log, all + weight));
        // There may be no value near the midpoint between two distant modes.
        let next = if all > 0.0 { sum / all } else { value };
        if (next - value).abs() <= 1e-12 * cut {
            return next;
        }
        value = next;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scatter_comes_from_the_quieter_half() {
        let quiet = numbered(&[1.00, 1.01, 0.99, 1.02, 0.98, 1.0]);
        let mut disturbed = numbered(&[2.00, 2.02, 1.98, 2.04, 1.96, 2.0]);
        let before = scatter([&quiet, &disturbed]).expect("two values");
        disturbed.insert(2, 0.0);
        let after = scatter([&quiet, &disturbed]).expect("two values");
        assert!(after >= before && after < 2.0 * before, "{before} {after}");
        let one = numbered(&[1.0]);
        assert_eq!((scatter([&one]), scatter([])), (None, None));
        assert_eq!(scatter([&numbered(&[3.0; 6])]), Some(LEAST_SCATTER));
    }

    fn value(values: &[f64]) -> Option<Estimate> {
        Level::of(values)?.estimate(0.95)
    }

    fn unpaired_ratio(a: &[f64], b: &[f64]) -> Option<Estimate> {
        Level::of(b)?.ratio(&Level::of(a)?, 0.95)
    }

    #[test]
    fn few_values_give_median_without_interval() {
        let got = value(&[10.0, 3.0, 11.0]).expect("positive values");
        assert!((got.value - 10.0).abs() < 1e-9 && got.interval.is_none(), "{got:?}");
        assert_eq!((value(&[]), value(&[0.0, 0.0])), (None, None));
    }

    #[test]
    fn unpaired_ratio_needs_two_values_on_each_side() {
        let (a, b) = ([10.0, 10.1, 9.9], [8.0, 8.1, 7.9]);
        let got = unpaired_ratio(&a, &b).expect("positive values");
        assert!((got.value - 0.8).abs() < 1e-9);
        assert!(got.interval.is_some_and(|it| it.high < 0.85 && it.low > 0.75), "{got:?}");
        assert!(unpaired_ratio(&a[..1], &b).is_some_and(|it| it.interval.is_none()));
    }

    proptest! {
        #[test]
        fn unpaired_ratio_is_the_quotient_of_the_values(
            a in prop::collection::vec(0.9..1.1f64, 1..12), b in prop::collection::vec(0.9..1.1f64, 1..12),
        ) {
            let ratio = unpaired_ratio(&a, &b).expect("positive values");
            let (a, b) = (value(&a).expect("values"), value(&b).expect("values"));
            prop_assert!((ratio.value * a.value / b.value - 1.0).abs() < 1e-9);
        }
    }
}

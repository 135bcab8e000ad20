//! Judges whether a cell differs between two runs.

use crate::{
    distribution,
    interval::{Estimate, Interval},
    location::{self, Level},
    mixture::{self, Part},
    permutation,
    verdict::{self, Difference},
};

pub const CONFIDENCE: f64 = 0.95;
/// Maximum p-value of a difference. With many cells, applies to the adjusted p-value ([`crate::sweep::p`]).
pub const MOST_P: f64 = 0.05;

/// Minimum number of values for equality. With fewer, the interval may be narrow by chance.
const FEWEST: usize = location::FEWEST;
const BOUND_IN_FLOORS: f64 = 4.0;
const BOUND: (f64, f64) = (0.05, 0.5);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AbResult {
    /// Ratio b/a ([`Level::ratio`]).
    pub ratio: Estimate,
    pub p: f64,
    /// Verdict for a single cell. For several cells, adjust their p-values and call [`Self::judged`].
    pub difference: Difference,
    /// The two levels, if both runs are mixtures of the same two levels.
    pub mixture: Option<[Part; 2]>,
    fewest: usize,
}

/// Compares a cell's trials in two independent runs. Ignores outages (zeros). `a` is the reference. `floor` is the
/// relative difference (0.02 is 2 %) by which identical runs differ beyond the spread of their trials.
pub fn judge(a: &[f64], b: &[f64], floor: f64) -> Option<AbResult> {
    let positive = |values: &[f64]| values.iter().copied().filter(|value| *value > 0.0).collect::<Vec<_>>();
    let (a, b) = (positive(a), positive(b));
    let ratio = Level::of(&b)?.ratio(&Level::of(&a)?, CONFIDENCE)?;
    let p = permutation::two_sample(&a, &b)?.p;
    let mixture = mixture::of(&a, &b, CONFIDENCE);
    let result =
        AbResult { ratio, p, difference: Difference::Unclear, mixture, fewest: a.len().min(b.len()) };
    Some(AbResult { difference: result.judged(p, floor), ..result })
}

impl AbResult {
    /// Multiplies the ratio, e.g. by the ratio of the first run to its own history.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        let scaled = |ratio: Estimate| Estimate {
            value: ratio.value * scale,
            interval: ratio.interval.map(|it| Interval { low: it.low * scale, high: it.high * scale, ..it }),
        };
        let mixture = self.mixture.map(|it| it.map(|part| Part { ratio: scaled(part.ratio), ..part }));
        Self { ratio: scaled(self.ratio), mixture, ..self }
    }

    /// Returns the verdict. It is unclear if a level of a mixture contradicts the average.
    #[must_use]
    pub fn judged(&self, p: f64, floor: f64) -> Difference {
        let difference = difference(&self.ratio, p, floor);
        let few = difference == Difference::WithinNoise && self.fewest < FEWEST;
        if few || !self.levels_agree(difference, floor) { Difference::Unclear } else { difference }
    }

    #[must_use]
    pub fn levels_agree(&self, difference: Difference, floor: f64) -> bool {
        let agrees = |ratio: f64| match difference {
            Difference::Lower => ratio <= 1.0,
            Difference::Higher => ratio >= 1.0,
            Difference::WithinNoise => ratio.ln().abs() <= same_within(floor).ln_1p(),
            Difference::Unclear => true,
        };
        self.mixture.is_none_or(|it| it.iter().all(|part| agrees(part.ratio.value)))
    }
}

/// Maximum relative difference between equal runs: four times the floor, but at least 5 % and at most 50 %.
#[must_use]
pub fn same_within(floor: f64) -> f64 {
    (BOUND_IN_FLOORS * floor.ln_1p()).exp_m1().clamp(BOUND.0, BOUND.1)
}

/// Two runs differ if the interval of the [`change`] excludes 1 and p is at most [`MOST_P`]. A difference requires e.g.
/// four values on each side. The runs are within noise if the interval contains 1 and lies within [`same_within`] (an
/// equivalence test: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). Anything else is unclear,
/// as is any ratio with a confidence level below [`verdict::LEAST_CONFIDENCE`].
pub fn difference(ratio: &Estimate, p: f64, floor: f64) -> Difference {
    let Some(change) = change(ratio, floor).filter(|it| verdict::is_sure(it.confidence)) else {
        return Difference::Unclear;
    };
    match (change.contains(1.0), p <= MOST_P) {
        (true, _) if verdict::reach(&change) <= same_within(floor).ln_1p() => Difference::WithinNoise,
        (false, true) if change.high < 1.0 => Difference::Lower,
        (false, true) => Difference::Higher,
        _ => Difference::Unclear,
    }
}

/// Widens the interval of a ratio by the floor. The two errors are independent, so they are combined in quadrature (Zou
/// and Donner, Statistics in Medicine 27, 2008).
///
/// Returns `None` if there is no interval of positive numbers.
pub fn change(ratio: &Estimate, floor: f64) -> Option<Interval> {
    let i = ratio.interval.filter(|i| ratio.value > 0.0 && i.low > 0.0 && i.high.is_finite())?;
    let fits = floor >= 0.0 && floor.is_finite();
    let reach = |end: f64| (end / ratio.value).ln().hypot(floor.ln_1p()).exp();
    fits.then(|| Interval { low: ratio.value / reach(i.low), high: ratio.value * reach(i.high), ..i })
}

/// Returns the probability of a ratio this far from 1 between equal runs: 5 % if the interval from [`change`] ends at
/// 1.
#[must_use]
pub fn chance(ratio: &Estimate, floor: f64) -> Option<f64> {
    let change = change(ratio, floor)?;
    let error = (change.high / change.low).ln() / 2.0 / distribution::normal_quantile(0.5 + CONFIDENCE / 2.0);
    Some(2.0 * distribution::normal_cdf(-ratio.value.ln().abs() / error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use proptest::prelude::*;

    fn of(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high, confidence: 0.95 }) }
    }

    #[test]
    fn each_case_has_its_verdict() {
        for (value, low, high, p, want) in [
            (0.95, 0.94, 0.96, 0.01, Difference::Lower),
            (1.05, 1.04, 1.06, 0.01, Difference::Higher),
            (0.95, 0.94, 0.96, 0.06, Difference::Unclear),
            (0.95, 0.90, 0.9985, 0.01, Difference::Unclear),
            (1.01, 0.93, 1.09, 0.50, Difference::Unclear),
            (1.01, 1.005, 1.015, 0.01, Difference::WithinNoise),
            (1.02, 1.00, 1.04, 0.04, Difference::WithinNoise),
            (1.01, 0.90, 1.12, 0.50, Difference::Unclear),
        ] {
            let estimate = of(value, low, high);
            assert_eq!(difference(&estimate, p, 0.02), want, "{estimate:?} {p}");
        }
        assert_eq!(difference(&Estimate { value: 0.5, interval: None }, 0.0, 0.02), Difference::Unclear);
        assert_eq!(difference(&of(0.5, 0.4, 0.6), 0.0, f64::NAN), Difference::Unclear);
    }

    #[test]
    fn distinguishes_different_but_not_equal_runs() {
        let a = [10.0, 10.1, 9.9, 10.05, 9.95, 10.02];
        let judged = judge(&a, &a.map(|x| 0.95 * x), 0.02).unwrap();
        assert_eq!(judged.difference, Difference::Lower);
        assert!((judged.ratio.value - 0.95).abs() < 1e-9 && judged.p < 0.003, "{judged:?}");
        assert_eq!(judge(&a, &a, 0.02).unwrap().difference, Difference::WithinNoise);
        assert_eq!(judge(&a[..2], &a[..2], 0.02).unwrap().difference, Difference::Unclear, "two are too few");
        assert_eq!(
            judge(&a, &[9.0], 0.02).unwrap().difference,
            Difference::Unclear,
            "one trial has no interval"
        );
        assert_eq!((judge(&a, &[], 0.02), judge(&a, &[0.0], 0.02)), (None, None));
    }

    #[test]
    fn four_trials_are_never_the_same() {
        let a = [10.0, 10.01, 9.99, 10.0, 10.0];
        assert_eq!(judge(&a, &a, 0.02).unwrap().difference, Difference::WithinNoise);
        assert_eq!(judge(&a[..4], &a[..4], 0.02).unwrap().difference, Difference::Unclear);
    }

    #[test]
    fn average_of_a_mixture_is_not_better_if_both_levels_are_worse() {
        let at = |share: usize, ratio: f64| -> Vec<f64> {
            let level = |index: usize| if index < share { 20.0 } else { 10.0 };
            (0..20).map(|index| ratio * level(index) * (1.0 + 0.002 * (index % 3) as f64)).collect()
        };
        let worse = judge(&at(3, 1.0), &at(17, 0.95), 0.02).unwrap();
        assert!(worse.mixture.is_some() && worse.ratio.value > 1.5, "{worse:?}");
        assert_eq!(worse.difference, Difference::Unclear);
        let better = judge(&at(3, 1.0), &at(17, 1.05), 0.02).unwrap();
        assert_eq!(better.difference, Difference::Higher);
        let history = better.scaled(0.9);
        assert!(history.mixture.is_some_and(|it| it.iter().all(|part| part.ratio.value < 0.95)));
        assert_eq!(history.judged(0.001, 0.02), Difference::Unclear, "both levels are below the history's");
    }

    #[test]
    fn change_interval_combines_scatter_and_floor_in_quadrature() {
        let (ratio, floor) = (of(0.95, 0.95 * (-0.03f64).exp(), 0.95 * 0.03f64.exp()), 0.04f64.exp_m1());
        let got = change(&ratio, floor).unwrap();
        assert!((got.low / 0.95 - (-0.05f64).exp()).abs() < 1e-12, "{got:?}");
        assert!((got.high / 0.95 - 0.05f64.exp()).abs() < 1e-12, "{got:?}");
        let edge = Estimate { value: 0.05f64.exp(), ..of(1.0, 0.02f64.exp(), 0.08f64.exp()) };
        assert!((chance(&edge, floor).unwrap() - 0.05).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn no_input_panics(
            a in prop::collection::vec(prop::num::f64::ANY, 0..6), b in prop::collection::vec(prop::num::f64::ANY, 0..6),
            floor in prop::num::f64::ANY,
        ) {
            if let Some(judged) = judge(&a, &b, floor) { prop_assert!(judged.ratio.value > 0.0); }
        }
    }
}

//! Fractions and percentiles of clustered items, e.g. of messages, which may be correlated within a trial.

use std::cmp::Ordering;

use statrs::{
    distribution::{DiscreteCDF, Hypergeometric},
    function::beta::beta_reg,
};

use crate::{
    distribution::student_quantile,
    interval::{Estimate, Interval},
};

/// With this many degrees of freedom, Student's distribution is practically normal.
const MANY: f64 = 1e6;
const STEPS: usize = 100;

/// A bound is `None` if there are too few items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub confidence: f64,
}

impl Bounds {
    #[must_use]
    pub fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self { low: self.low.map(&of), high: self.high.map(&of), ..self }
    }
}

impl From<Interval> for Bounds {
    fn from(it: Interval) -> Self {
        Self { low: Some(it.low), high: Some(it.high), confidence: it.confidence }
    }
}

/// Returns the pooled fraction, given the number of affected items and the total number of items in each cluster. The
/// interval is the Clopper-Pearson interval for the effective number of items (Korn and Graubard 1998). A single
/// cluster has no interval.
#[must_use]
pub fn fraction(clusters: &[(f64, f64)], confidence: f64) -> Option<Estimate> {
    let (part, whole) = sums(clusters)?;
    let value = part / whole;
    let interval = || {
        let items = effective_items(clusters, value, confidence)?;
        let (x, rest) = (value * items, (1.0 - value) * items);
        let miss = (1.0 - confidence) / 2.0;
        let low = if x > 0.0 { beta_quantile(miss, x, rest + 1.0) } else { 0.0 };
        let high = if rest > 0.0 { beta_quantile(1.0 - miss, x + 1.0, rest) } else { 1.0 };
        Some(Interval { low, high, confidence })
    };
    Some(Estimate { value, interval: if clusters.len() > 1 { interval() } else { None } })
}

/// Returns the bounds of a percentile, as indexes into the distinct values in ascending order: the first and last values
/// at which the fraction of items up to them is compatible with `share` (Francisco and Fuller 1991). A bound is `None`
/// if there are too few items.
///
/// `clusters` returns, for the value with the given index, the number of items up to it and the total number in each
/// cluster.
#[must_use]
pub fn percentile(
    share: f64,
    values: usize,
    clusters: impl Fn(usize) -> Vec<(f64, f64)>,
    confidence: f64,
) -> (Option<usize>, Option<usize>) {
    let indexes: Vec<usize> = (0..values).collect();
    let position = |clusters: &[(f64, f64)]| position(clusters, share, confidence);
    let none: Vec<(f64, f64)> = indexes
        .first()
        .map_or_else(Vec::new, |first| clusters(*first).iter().map(|(_, whole)| (0.0, *whole)).collect());
    let first = |is_before: &dyn Fn(Option<Ordering>) -> bool| {
        Some(indexes.partition_point(|at| is_before(position(&clusters(*at))))).filter(|at| *at < values)
    };
    let is_less = |position| position == Some(Ordering::Less);
    let low = if is_less(position(&none)) { first(&is_less) } else { None };
    (low, first(&|position| position != Some(Ordering::Greater)))
}

/// Compares the confidence interval of a fraction with `share`.
fn position(clusters: &[(f64, f64)], share: f64, confidence: f64) -> Option<Ordering> {
    let (part, whole) = sums(clusters).filter(|_| share > 0.0 && share < 1.0)?;
    let items = effective_items(clusters, part / whole, confidence)?;
    let (x, rest) = (part / whole * items, (1.0 - part / whole) * items);
    let miss = (1.0 - confidence) / 2.0;
    let is_below = rest > 0.0 && beta_reg(x + 1.0, rest, share) > 1.0 - miss;
    let is_above = x > 0.0 && beta_reg(x, rest + 1.0, share) < miss;
    Some(if is_below {
        Ordering::Less
    } else if is_above {
        Ordering::Greater
    } else {
        Ordering::Equal
    })
}

/// Returns the difference b - a of two independent estimates (Zou and Donner 2008).
#[must_use]
pub fn difference(a: (f64, Bounds), b: (f64, Bounds)) -> (f64, Bounds) {
    let value = b.0 - a.0;
    let reach = |below: Option<f64>, above: Option<f64>| Some((b.0 - below?).hypot(above? - a.0));
    let upward = |above: Option<f64>, below: Option<f64>| Some((above? - b.0).hypot(a.0 - below?));
    let bounds = Bounds {
        low: reach(b.1.low, a.1.high).map(|reach| value - reach),
        high: upward(b.1.high, a.1.low).map(|reach| value + reach),
        confidence: a.1.confidence.min(b.1.confidence),
    };
    (value, bounds)
}

/// Returns the probability of at least this many affected items in b if a and b do not differ (one-sided Fisher's exact
/// test). Each pair is (affected, total).
#[must_use]
pub fn more_in_b(a: (u64, u64), b: (u64, u64)) -> f64 {
    let Some(before) = b.0.checked_sub(1) else { return 1.0 };
    Hypergeometric::new(a.1 + b.1, a.0 + b.0, b.1).map_or(1.0, |counts| counts.sf(before))
}

fn sums(clusters: &[(f64, f64)]) -> Option<(f64, f64)> {
    let valid = |(part, whole): &(f64, f64)| *part >= 0.0 && part <= whole && whole.is_finite();
    let (part, whole) = clusters.iter().fold((0.0, 0.0), |(part, whole), it| (part + it.0, whole + it.1));
    (clusters.iter().all(valid) && whole > 0.0 && whole.is_finite()).then_some((part, whole))
}

/// Returns the number of independent items that carry the same information. The excess variance due to clusters is
/// only an estimate, so it is multiplied by the square of Student's quantile.
fn effective_items(clusters: &[(f64, f64)], share: f64, confidence: f64) -> Option<f64> {
    let (part, whole) = sums(clusters)?;
    let used = clusters.iter().filter(|it| it.1 > 0.0).count() as f64;
    if used < 2.0 {
        return Some(whole);
    }
    let mean = part / whole;
    let squares: f64 = clusters.iter().map(|(part, whole)| (part - mean * whole).powi(2)).sum();
    let variance = used / (used - 1.0) * squares / whole.powi(2);
    let quantile = student_quantile(confidence, used - 1.0)? / student_quantile(confidence, MANY)?;
    let of_items = share * (1.0 - share) / whole;
    let excess = if of_items > 0.0 { (variance / of_items - 1.0).max(0.0) } else { 0.0 };
    Some((whole / (1.0 + quantile.powi(2) * excess)).clamp(1.0, whole.max(1.0)))
}

fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    bisect(0.0, 1.0, |x| beta_reg(a, b, x) < p)
}

fn bisect(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..STEPS {
        let middle = low + (high - low) / 2.0;
        if below(middle) { low = middle } else { high = middle }
    }
    low + (high - low) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn about(value: f64, wanted: f64) -> bool {
        (value - wanted).abs() < 1e-3
    }

    /// The Clopper-Pearson interval for 2 of 20 is 1.2 to 31.7 %.
    #[test]
    fn clusters_of_one_item_have_about_the_exact_interval() {
        let interval = |n: usize| {
            let clusters: Vec<(f64, f64)> =
                (0..n).map(|at| (f64::from(u8::from(at < n / 10)), 1.0)).collect();
            fraction(&clusters, 0.95).unwrap().interval.unwrap()
        };
        let (few, many) = (interval(20), interval(2000));
        assert!((0.011..0.0124).contains(&few.low) && (0.316..0.327).contains(&few.high), "{few:?}");
        assert!(about(many.low, 0.0872) && about(many.high, 0.1140), "{many:?}");
    }

    #[test]
    fn losses_in_one_cluster_are_known_less_well_than_losses_in_all() {
        let even = fraction(&[(10.0, 1000.0); 8], 0.95).unwrap();
        let mut burst = [(0.0, 1000.0); 8];
        burst[3].0 = 80.0;
        let burst = fraction(&burst, 0.95).unwrap();
        assert!((even.value - burst.value).abs() < 1e-12 && about(even.value, 0.01));
        let width = |it: &Estimate| it.interval.map(|it| it.high - it.low).unwrap();
        assert!(width(&burst) > 5.0 * width(&even), "{even:?} {burst:?}");
        assert_eq!(fraction(&[(1.0, 5.0)], 0.95).unwrap().interval, None);
        assert_eq!((fraction(&[], 0.95), fraction(&[(2.0, 1.0)], 0.95)), (None, None));
    }

    /// Bounds of a percentile of the items 1 to `items` in each cluster, each shifted by the cluster's number.
    fn bounds(share: f64, items: usize, shifts: &[usize]) -> (Option<usize>, Option<usize>) {
        let last = items + shifts.iter().max().unwrap();
        let up_to = |value: usize| {
            move |shift: &usize| (value.saturating_sub(*shift).min(items) as f64, items as f64)
        };
        let (low, high) = percentile(share, last, |at| shifts.iter().map(up_to(at + 1)).collect(), 0.95);
        (low.map(|at| at + 1), high.map(|at| at + 1))
    }

    /// With 100 independent items, the exact interval of the median reaches from the 40th to the 61st item.
    #[test]
    fn percentile_of_independent_items_has_the_interval_of_order_statistics() {
        assert_eq!(bounds(0.5, 100, &[0]), (Some(40), Some(61)));
        // The highest of n items is an upper bound of the 99th percentile if 0.99^n < 2.5 %.
        assert_eq!(bounds(0.99, 367, &[0]).1, None);
        assert_eq!(bounds(0.99, 368, &[0]).1, Some(368));
        assert_eq!((bounds(0.01, 367, &[0]).0, bounds(0.01, 368, &[0]).0), (None, Some(1)));
    }

    #[test]
    fn percentile_that_varies_between_clusters_has_wider_bounds() {
        let (even, uneven) = (bounds(0.9, 1000, &[90; 6]), bounds(0.9, 1000, &[0, 180, 60, 120, 30, 150]));
        let width = |(low, high): (Option<usize>, Option<usize>)| high.unwrap() - low.unwrap();
        assert!(width(uneven) > 3 * width(even), "{even:?} {uneven:?}");
    }

    /// No message of 1,000 took longer than the last value, although half of the trials are slow.
    #[test]
    fn percentile_has_an_upper_bound_despite_different_clusters() {
        assert!(bounds(0.99, 200, &[0, 100, 0, 100, 0]).1.is_some());
    }

    #[test]
    fn difference_combines_the_facing_ends() {
        let bounds = |low, high| Bounds { low, high, confidence: 0.95 };
        let (value, got) =
            difference((1.0, bounds(Some(0.0), Some(4.0))), (10.0, bounds(Some(6.0), Some(10.5))));
        assert!(
            about(value, 9.0) && about(got.low.unwrap(), 4.0) && about(got.high.unwrap(), 10.118),
            "{got:?}"
        );
        let open = difference((1.0, bounds(Some(0.0), None)), (10.0, bounds(Some(6.0), None))).1;
        assert_eq!((open.low, open.high), (None, None));
    }

    #[test]
    fn silent_trials_are_tested_exactly() {
        assert!(about(more_in_b((0, 8), (7, 8)), 8.0 / 11440.0));
        assert!(more_in_b((0, 8), (4, 8)) < 0.05 && more_in_b((0, 8), (3, 8)) > 0.05);
        assert!(about(more_in_b((0, 8), (0, 8)), 1.0) && about(more_in_b((0, 0), (0, 0)), 1.0));
    }

    proptest! {
        #[test]
        fn no_input_panics(
            clusters in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..6),
            counts in prop::collection::vec((0..50u32, 0..90u32), 0..9), share in -0.1..1.1f64,
        ) {
            let _ = (fraction(&clusters, 0.95), percentile(share, 3, |_| clusters.clone(), 0.95));
            let counts: Vec<_> = counts.iter().map(|(part, whole)| (f64::from(*part), f64::from(*whole))).collect();
            if let Some(Estimate { value, interval: Some(it) }) = fraction(&counts, 0.95) {
                prop_assert!(it.low <= value && value <= it.high, "{value} {it:?}");
            }
        }
    }
}

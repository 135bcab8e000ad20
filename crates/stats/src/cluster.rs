//! Fractions and percentiles of clustered items, e.g. of messages, which may be correlated within a trial.

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

/// Returns the bounds of a percentile, as fractions of the pooled items (Woodruff 1952). A bound is `None` if it lies
/// beyond all items.
///
/// For each cluster, `clusters` contains the number of items up to the pooled percentile and the total number.
#[must_use]
pub fn percentile(share: f64, clusters: &[(f64, f64)], confidence: f64) -> Option<Bounds> {
    let items = effective_items(clusters, share, confidence).filter(|_| share > 0.0 && share < 1.0)?;
    let miss = (1.0 - confidence) / 2.0;
    // Probability that fewer than `number` items lie below the true percentile.
    let fewer = |number: f64| beta_reg(items - number + 1.0, number, 1.0 - share);
    let at = |wanted: f64| {
        (fewer(items) >= wanted).then(|| bisect(f64::MIN_POSITIVE, items, |number| fewer(number) < wanted))
    };
    let (low, high) = (at(miss).filter(|number| *number >= 1.0), at(1.0 - miss));
    Some(Bounds { low: low.map(|it| it / items), high: high.map(|it| it / items), confidence })
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

    /// With 100 independent items, the exact interval of the median reaches from the 40th to the 61st item.
    #[test]
    fn percentile_of_independent_items_has_the_interval_of_order_statistics() {
        let bounds = percentile(0.5, &[(50.0, 100.0)], 0.95).unwrap();
        let (low, high) = (bounds.low.unwrap(), bounds.high.unwrap());
        assert!((0.39..=0.41).contains(&low) && (0.59..=0.61).contains(&high), "{bounds:?}");
        let few = percentile(0.99, &[(99.0, 100.0)], 0.95).unwrap();
        assert!(few.high.is_none() && few.low.is_some(), "{few:?}");
        let enough = percentile(0.99, &[(396.0, 400.0)], 0.95).unwrap();
        assert!(enough.high.is_some(), "{enough:?}");
    }

    #[test]
    fn percentile_that_varies_between_clusters_has_wider_bounds() {
        let even = percentile(0.9, &[(900.0, 1000.0); 6], 0.95).unwrap();
        let uneven: Vec<(f64, f64)> =
            [990.0, 810.0, 930.0, 870.0, 960.0, 840.0].map(|n| (n, 1000.0)).to_vec();
        let uneven = percentile(0.9, &uneven, 0.95).unwrap();
        assert!(uneven.low.unwrap() < even.low.unwrap() - 0.03, "{even:?} {uneven:?}");
        assert!(uneven.high.unwrap() > even.high.unwrap() + 0.02, "{even:?} {uneven:?}");
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
            let _ = (fraction(&clusters, 0.95), percentile(share, &clusters, 0.95));
            let counts: Vec<_> = counts.iter().map(|(part, whole)| (f64::from(*part), f64::from(*whole))).collect();
            if let Some(Estimate { value, interval: Some(it) }) = fraction(&counts, 0.95) {
                prop_assert!(it.low <= value && value <= it.high, "{value} {it:?}");
            }
        }
    }
}

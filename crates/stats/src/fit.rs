//! The anchored biweight (docs/methods/intervals.md). One fit gives all values and comparisons of a workload.

use crate::{
    distribution::student_quantile,
    interval::Estimate,
    location::{self, Blocks, FEWEST, LEAST_SCATTER, Level, Location},
    multiple::Family,
    noise::{self, NoiseFloor},
    verdict::{self, Difference},
};

pub const BASELINE: usize = 0;

/// Degrees of freedom of the workload's pooled variance, as a multiple of n - 1.
const SHARED_FREEDOM: f64 = 2.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    anchor: Location,
    /// Log ratios to the baseline. `None` if a result shares no block with the baseline.
    steps: Vec<Option<Location>>,
    scatter: f64,
    again: Option<Location>,
    family: Family,
}

impl Fit {
    /// Fits the positive values of all results by block. The baseline comes first. Returns `None` if the baseline has
    /// no values.
    ///
    /// The requested confidence holds for each value separately, but for all comparisons of the run's `family`
    /// together.
    #[must_use]
    pub fn of(results: &[Blocks], again: &Blocks, family: Family) -> Option<Self> {
        let logs: Vec<Blocks> = results.iter().map(location::logarithms).collect();
        let baseline = logs.first()?;
        let against = |other: &Blocks| -> Blocks {
            other.iter().filter_map(|(block, log)| Some((*block, log - baseline.get(block)?))).collect()
        };
        let ratios: Vec<Blocks> = logs.iter().skip(1).map(against).collect();
        let repeated = against(&location::logarithms(again));
        let scatter = location::scatter(ratios.iter().chain([&repeated])).unwrap_or(LEAST_SCATTER);
        let of_blocks = location::scatter(&logs).unwrap_or(LEAST_SCATTER);
        let anchor = Location::of_modes(baseline, of_blocks)?;
        let zero = Location { value: 0.0, influence: Blocks::new(), n: anchor.n, weight: anchor.weight };
        let others = ratios.iter().map(|ratios| Location::of(ratios, scatter));
        Some(Self {
            anchor,
            steps: [Some(zero)].into_iter().chain(others).collect(),
            scatter,
            again: Location::of(&repeated, scatter),
            family,
        })
    }

    /// Returns `None` if the result shares no block with the baseline. There is no interval if there are fewer than
    /// [`FEWEST`] blocks.
    #[must_use]
    pub fn value(&self, result: usize, confidence: f64) -> Option<Estimate> {
        let (log, n, own, shared) = self.located(result)?;
        estimate(log, own, shared, n, (Family::SINGLE, confidence))
    }

    #[must_use]
    pub fn level(&self, result: usize) -> Option<Level> {
        let (log, n, own, shared) = self.located(result)?;
        Some(Level::new(log, own.max(shared), n))
    }

    fn located(&self, result: usize) -> Option<(f64, usize, f64, f64)> {
        let step = self.step(result)?;
        let own = sum_of_squares(&self.anchor.influence, &step.influence, 1.0);
        // Assume that this result varies within a block at least as much as the workload's other results.
        let shared = self.scatter.powi(2) / 2.0 / self.anchor.weight.min(step.weight).max(1.0);
        Some((self.anchor.value + step.value, self.anchor.n.min(step.n), own, shared))
    }

    /// Returns `None` if either result shares no block with the baseline. There is no interval if there are fewer
    /// than [`FEWEST`] blocks.
    #[must_use]
    pub fn ratio(&self, result: usize, reference: usize, confidence: f64) -> Option<Estimate> {
        self.ratio_within(self.family, result, reference, confidence)
    }

    fn ratio_within(
        &self,
        family: Family,
        result: usize,
        reference: usize,
        confidence: f64,
    ) -> Option<Estimate> {
        let (step, below) = (self.step(result)?, self.step(reference)?);
        let own = sum_of_squares(&step.influence, &below.influence, -1.0);
        let shared = self.scatter.powi(2) / step.weight.min(below.weight).max(1.0);
        estimate(step.value - below.value, own, shared, step.n.min(below.n), (family, confidence))
    }

    /// Returns `None` if the baseline was repeated fewer than two times.
    #[must_use]
    pub fn floor(&self, confidence: f64) -> Option<NoiseFloor> {
        let again = self.again.as_ref()?;
        let ratio = paired(again, self.scatter, (Family::SINGLE, confidence))?;
        noise::floor(&ratio, again.n, self.scatter, confidence)
    }

    /// Compares the second values of pairs with the first values, e.g. trials with and without other traffic. Uses
    /// this workload's spread.
    #[must_use]
    pub fn of_pairs(&self, pairs: &[(f64, f64)], confidence: f64) -> Option<(Estimate, Difference)> {
        self.judged(|family| ratio_of(pairs, self.scatter, (family, confidence)), confidence)
    }

    #[must_use]
    pub fn again(&self, confidence: f64) -> Option<Estimate> {
        paired(self.again.as_ref()?, self.scatter, (Family::SINGLE, confidence))
    }

    /// The verdict is unclear if there is no noise floor.
    #[must_use]
    pub fn judge(&self, result: usize, reference: usize, confidence: f64) -> Option<(Estimate, Difference)> {
        self.judged(|family| self.ratio_within(family, result, reference, confidence), confidence)
    }

    /// Two results differ if the family's interval excludes 1. Whether they are within noise depends on the interval of
    /// this comparison alone, so that other results in the run cannot make the verdict unclear.
    fn judged(
        &self,
        ratio: impl Fn(Family) -> Option<Estimate>,
        confidence: f64,
    ) -> Option<(Estimate, Difference)> {
        let (together, alone) = (ratio(self.family)?, ratio(Family::SINGLE)?);
        let Some(floor) = self.floor(confidence) else { return Some((together, Difference::Unclear)) };
        let difference = match verdict::verdict(&together, &floor) {
            Difference::Unclear if verdict::verdict(&alone, &floor) == Difference::WithinNoise => {
                Difference::WithinNoise
            }
            difference => difference,
        };
        Some((together, difference))
    }

    fn step(&self, result: usize) -> Option<&Location> {
        self.steps.get(result)?.as_ref()
    }
}

/// Returns second/first for positive pairs, one per block. `scatter` is the workload's standard deviation of log
/// ratios.
#[must_use]
pub fn paired_ratio(pairs: &[(f64, f64)], scatter: f64, confidence: f64) -> Option<Estimate> {
    ratio_of(pairs, scatter, (Family::SINGLE, confidence))
}

fn ratio_of(pairs: &[(f64, f64)], scatter: f64, together: (Family, f64)) -> Option<Estimate> {
    let ratios: Blocks = (0..).zip(pairs.iter().map(|(first, second)| second / first)).collect();
    paired(&Location::of(&location::logarithms(&ratios), scatter)?, scatter, together)
}

fn paired(step: &Location, scatter: f64, confidence: (Family, f64)) -> Option<Estimate> {
    estimate(step.value, step.variance(), scatter.powi(2) / step.weight.max(1.0), step.n, confidence)
}

/// Returns the wider of two intervals. One is computed from the influence of the blocks, the other from the workload's
/// variance, because a few blocks may agree by chance.
fn estimate(
    log: f64,
    own: f64,
    shared: f64,
    n: usize,
    (family, confidence): (Family, f64),
) -> Option<Estimate> {
    let each = family.each(confidence);
    let half = |freedom: f64, variance: f64| Some(student_quantile(each, freedom)? * variance.sqrt());
    let by_own = half(location::freedom(n), own);
    let by_shared = half(SHARED_FREEDOM * (n as f64 - 1.0), shared);
    let half = by_own.zip(by_shared).filter(|_| n >= FEWEST).map(|(own, shared)| own.max(shared));
    location::estimate(log, half, confidence)
}

fn sum_of_squares(one: &Blocks, other: &Blocks, sign: f64) -> f64 {
    let both = one.iter().map(|(block, it)| it + sign * other.get(block).copied().unwrap_or(0.0));
    let rest = other.iter().filter(|(block, _)| !one.contains_key(block)).map(|(_, it)| *it);
    both.chain(rest).map(|it| it * it).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SURE: f64 = 0.95;

    fn blocks(values: &[f64]) -> Blocks {
        (0..).zip(values.iter().copied()).collect()
    }

    fn exp(logs: &[f64]) -> Vec<(f64, f64)> {
        logs.iter().map(|log: &f64| (2.0, 2.0 * log.exp())).collect()
    }

    fn judged(logs: &[f64], scatter: f64) -> (f64, crate::Interval) {
        let got = paired_ratio(&exp(logs), scatter, SURE).expect("positive pairs");
        (got.value.ln(), got.interval.expect("five pairs or more"))
    }

    #[test]
    fn two_disturbed_pairs_of_six_barely_change_the_ratio() {
        let quiet = [-0.1, -0.12, -0.09, -0.11, -0.105, -0.095];
        let (value, interval) = judged(&quiet, 0.02);
        let mut disturbed = quiet;
        (disturbed[1], disturbed[4]) = (-1.2, -1.1);
        let (moved, wider) = judged(&disturbed, 0.02);
        assert!((value - moved).abs() < 0.005, "{value} {moved}");
        assert!(wider.high < 0.95 && wider.low > 0.85, "{wider:?} for {interval:?}");
    }

    #[test]
    fn uses_workload_scatter_if_values_agree_by_chance() {
        let (_, interval) = judged(&[0.01; 6], 0.03);
        let half = (interval.high / interval.low).ln() / 2.0;
        assert!((half - 2.228_139 * 0.03 / 6f64.sqrt()).abs() < 1e-6, "{half}");
    }

    #[test]
    fn four_blocks_give_values_without_interval() {
        let fit = Fit::of(&[blocks(&[10.0; 4]), blocks(&[8.0; 4])], &blocks(&[10.1; 4]), Family::SINGLE)
            .expect("a baseline");
        let ratio = fit.ratio(1, BASELINE, SURE).expect("common blocks");
        assert!((ratio.value - 0.8).abs() < 1e-12 && ratio.interval.is_none(), "{ratio:?}");
        assert_eq!(fit.judge(1, BASELINE, SURE), Some((ratio, Difference::Unclear)));
        assert!(fit.floor(SURE).is_some_and(|floor| !floor.is_sure()));
    }

    #[test]
    fn ignores_outages() {
        let (baseline, mut silent) = (blocks(&[10.0; 6]), blocks(&[8.0; 6]));
        let again = blocks(&[10.0; 6]);
        let all = Fit::of(&[baseline.clone(), silent.clone()], &again, Family::SINGLE)
            .and_then(|fit| fit.value(1, SURE));
        silent.insert(3, 0.0);
        let fit = Fit::of(&[baseline.clone(), silent], &again, Family::SINGLE).expect("a baseline");
        let value = fit.value(1, SURE).expect("five values");
        assert!((value.value - all.expect("six values").value).abs() < 1e-9 && value.interval.is_some());
        let nothing = Fit::of(&[baseline, blocks(&[0.0; 6])], &again, Family::SINGLE).expect("a baseline");
        assert_eq!(nothing.value(1, SURE), None);
    }

    fn any_workload() -> impl Strategy<Value = Vec<Blocks>> {
        let values = || prop::collection::vec(1e-3..1e6f64, 12);
        let some = (values(), 1..12usize).prop_map(|(values, n)| blocks(&values[..n]));
        (values(), prop::collection::vec(some, 1..5))
            .prop_map(|(baseline, others)| [blocks(&baseline)].into_iter().chain(others).collect())
    }

    proptest! {
        #[test]
        fn values_and_ratios_agree(results in any_workload(), k in 0.1..10.0f64) {
            let fit = Fit::of(&results, &results[1], Family::SINGLE).expect("a baseline");
            let value = |fit: &Fit, result| fit.value(result, SURE).expect("common blocks").value;
            let ratio = |result, reference| fit.ratio(result, reference, SURE).expect("common blocks");
            for (one, other) in (0..results.len()).flat_map(|one| (0..results.len()).map(move |other| (one, other))) {
                let (there, back) = (ratio(one, other), ratio(other, one));
                prop_assert!((value(&fit, one) / value(&fit, other) / there.value - 1.0).abs() < 1e-9);
                prop_assert!((there.value * back.value - 1.0).abs() < 1e-9);
                prop_assert!((ratio(one, 0).value / ratio(other, 0).value / there.value - 1.0).abs() < 1e-9);
                if let Some(it) = there.interval.filter(|_| one != other) {
                    prop_assert!(it.low < there.value && there.value < it.high);
                }
            }
            let scaled: Vec<Blocks> = results
                .iter()
                .map(|result| result.iter().map(|(block, value)| (*block, k * value)).collect())
                .collect();
            let scaled = Fit::of(&scaled, &scaled[1], Family::SINGLE).expect("a baseline");
            prop_assert!((value(&scaled, 1) / value(&fit, 1) / k - 1.0).abs() < 1e-6);
        }

        #[test]
        fn no_input_panics(
            results in prop::collection::vec(prop::collection::btree_map(0..9u32, prop::num::f64::ANY, 0..9), 0..4),
        ) {
            let again = results.first().cloned().unwrap_or_default();
            if let Some(fit) = Fit::of(&results, &again, Family::SINGLE) {
                prop_assert!(fit.scatter >= LEAST_SCATTER);
                if let Some(floor) = fit.floor(SURE) { prop_assert!(floor.relative >= noise::USUAL_MINIMUM); }
                for result in 0..results.len() {
                    if let Some(i) = fit.value(result, SURE).and_then(|it| it.interval) { prop_assert!(i.low <= i.high); }
                    let _ = fit.judge(result, BASELINE, SURE);
                }
            }
        }
    }
}

//! Finds the first candidate in a list, e.g. of kernels, that changes a result.

use findings::{ResultComparison, Verdict};

use crate::comparison::MAX_LOSS_OF_COUNTS;

/// Returns the result with the largest significant change. If no change is significant, the `Err` contains the result
/// with the largest change.
pub fn most_different(
    results: &[ResultComparison],
    counts: bool,
) -> Result<&ResultComparison, Option<&ResultComparison>> {
    let size = |result: &ResultComparison| log_ratio(result.b.estimate, result.a.estimate).abs();
    let differs = |result: &&ResultComparison| match counts {
        true => size(result) > MAX_LOSS_OF_COUNTS,
        false => matches!(result.verdict, Verdict::Better | Verdict::Worse),
    };
    let largest = |results: &mut dyn Iterator<Item = _>| {
        results.max_by(|one: &&ResultComparison, other| size(one).total_cmp(&size(other)))
    };
    largest(&mut results.iter().filter(differs)).ok_or_else(|| largest(&mut results.iter()))
}

fn log_ratio(value: f64, reference: f64) -> f64 {
    (value / reference).ln()
}

/// The values of a good and a bad candidate, both positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub good: f64,
    pub bad: f64,
}

impl Step {
    /// Whether the ratio of `value` to `bad` is closer to 1 than its ratio to `good`.
    #[must_use]
    pub fn is_bad(self, value: f64) -> bool {
        log_ratio(value, self.bad).abs() < log_ratio(value, self.good).abs()
    }

    /// The relative change, e.g. 0.03 for an increase by 3 %.
    #[must_use]
    pub fn change(self) -> f64 {
        self.bad / self.good - 1.0
    }

    /// Whether this step makes up at least half of the whole change.
    #[must_use]
    pub fn is_most_of(self, whole: Self) -> bool {
        log_ratio(self.bad, self.good) / log_ratio(whole.bad, whole.good) >= 0.5
    }
}

/// A search by halving. Candidate 0 is good, and the last one is bad.
#[derive(Debug)]
pub struct Bisection {
    good: usize,
    bad: usize,
    whole: Step,
    step: Step,
}

impl Bisection {
    /// `whole` contains the values of the first and the last candidate. Requires at least two candidates.
    #[must_use]
    pub fn new(candidates: usize, whole: Step) -> Self {
        Self { good: 0, bad: candidates - 1, whole, step: whole }
    }

    /// Returns the candidate to measure next, or `None` once the first bad candidate is found.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        (self.bad - self.good > 1).then(|| usize::midpoint(self.good, self.bad))
    }

    /// Adds the value of the [next](Self::next) candidate, and returns whether it is bad.
    pub fn add(&mut self, candidate: usize, value: f64) -> bool {
        let is_bad = self.whole.is_bad(value);
        if is_bad {
            (self.bad, self.step.bad) = (candidate, value);
        } else {
            (self.good, self.step.good) = (candidate, value);
        }
        is_bad
    }

    /// Returns the first bad candidate so far, and its change from the last good one.
    #[must_use]
    pub fn first_bad(&self) -> (usize, Step) {
        (self.bad, self.step)
    }
}

/// The maximum number of candidates that a [`Bisection`] measures between the first and the last.
#[must_use]
pub fn most_midpoints(candidates: usize) -> u32 {
    (candidates - 1).next_power_of_two().ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_position_with_few_measurements() {
        let whole = Step { good: 100.0, bad: 110.0 };
        for candidates in 2..70 {
            for plant in 1..candidates {
                let mut bisection = Bisection::new(candidates, whole);
                let mut measured = 0;
                while let Some(middle) = bisection.next() {
                    measured += 1;
                    let value = if middle < plant { 101.0 } else { 109.0 };
                    assert_eq!(bisection.add(middle, value), middle >= plant);
                }
                let (found, step) = bisection.first_bad();
                assert!(found == plant && step.is_most_of(whole), "{candidates} candidates: {step:?}");
                assert!(measured <= most_midpoints(candidates), "{measured} of {candidates}");
            }
        }
        assert_eq!(most_midpoints(16), 4);
    }

    #[test]
    fn judges_values_by_closer_end() {
        for step in [Step { good: 100.0, bad: 110.0 }, Step { good: 110.0, bad: 100.0 }] {
            assert!(step.is_bad(step.bad) && !step.is_bad(step.good));
            let near = (step.bad * step.bad * step.good).cbrt();
            assert!(step.is_bad(near));
            assert!(
                Step { bad: near, ..step }.is_most_of(step) && !Step { good: near, ..step }.is_most_of(step)
            );
        }
    }
}

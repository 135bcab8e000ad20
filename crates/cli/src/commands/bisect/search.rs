//! The search for the first bad kernel.

pub(super) const KERNEL: &str = "the kernel";
pub(super) const PARAMETERS: &str = "the kernel parameters";

/// The values of the two ends, both positive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub(super) good: f64,
    pub(super) bad: f64,
}

impl Ends {
    /// Whether the ratio of the value to `bad` is closer to 1 than its ratio to `good`.
    pub(super) fn is_bad(self, value: f64) -> bool {
        (value / self.bad).ln().abs() < (value / self.good).ln().abs()
    }

    /// In percent.
    pub(super) fn change(self) -> f64 {
        (self.bad / self.good - 1.0) * 100.0
    }

    pub(super) fn share_of(self, whole: Self) -> f64 {
        (self.bad / self.good).ln() / (whole.bad / whole.good).ln()
    }
}

/// The number of midpoints that [`first_bad`] tries at most.
pub(super) fn most_midpoints(kernels: usize) -> u32 {
    (kernels - 1).next_power_of_two().ilog2()
}

/// Halves the candidates between 0, which is good, and `last`, which is bad.
pub(super) fn first_bad<E>(
    last: usize,
    mut is_bad: impl FnMut(usize) -> Result<bool, E>,
) -> Result<usize, E> {
    let (mut good, mut bad) = (0, last);
    while bad - good > 1 {
        let middle = usize::midpoint(good, bad);
        if is_bad(middle)? {
            bad = middle;
        } else {
            good = middle;
        }
    }
    Ok(bad)
}

/// `kernel`: whether the bad kernel with the parameters of the good one is bad. `parameters`: the reverse.
pub(super) fn cause(kernel: bool, parameters: bool) -> &'static str {
    match (kernel, parameters) {
        (true, false) => KERNEL,
        (false, true) => PARAMETERS,
        (true, true) => "the kernel or the kernel parameters; either alone changes the result",
        (false, false) => "the kernel together with the kernel parameters; neither alone changes the result",
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn finds_each_position_with_few_measurements() {
        for kernels in 2..70 {
            for plant in 1..kernels {
                let mut measured = 0;
                let found = first_bad(kernels - 1, |middle| {
                    measured += 1;
                    Ok::<_, Infallible>(middle >= plant)
                });
                assert_eq!(found, Ok(plant), "{kernels} kernels");
                assert!(measured <= most_midpoints(kernels), "{measured} of {kernels}");
            }
        }
        assert_eq!(most_midpoints(16), 4);
    }

    #[test]
    fn judges_values_by_closer_end() {
        for ends in [Ends { good: 100.0, bad: 110.0 }, Ends { good: 110.0, bad: 100.0 }] {
            assert!(ends.is_bad(ends.bad) && !ends.is_bad(ends.good));
            let near = (ends.bad * ends.bad * ends.good).cbrt();
            assert!(ends.is_bad(near));
            assert!((Ends { bad: near, ..ends }.share_of(ends) - 2.0 / 3.0).abs() < 1e-9);
        }
    }
}

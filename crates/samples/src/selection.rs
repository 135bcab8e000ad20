//! Selects the trials of a result for the run loop, the analysis and all comparisons.

use crate::{Trial, ValidityWarning};

/// Below this number of undisturbed trials, disturbed ones are used as well.
const FEWEST: usize = 5;

impl Trial {
    /// Whether other work, a stall or an early end affected the trial. Never depends on the measured value.
    #[must_use]
    pub fn is_flawed(&self) -> bool {
        self.warnings.iter().any(|warning| match warning {
            ValidityWarning::Disturbed { .. } | ValidityWarning::Stalled { .. } => true,
            ValidityWarning::Interrupted { .. } => true,
            ValidityWarning::OtherDuration { requested, measured } => measured.0 < requested.0 / 2,
            _ => false,
        })
    }
}

/// Returns whether to leave out a result's disturbed trials, given whether each trial was disturbed. True if the
/// undisturbed trials are the majority and enough for an interval.
#[must_use]
pub fn leaves_out_disturbed(trials: impl IntoIterator<Item = bool>) -> bool {
    let (mut all, mut undisturbed) = (0, 0);
    for disturbed in trials {
        all += 1;
        undisturbed += usize::from(!disturbed);
    }
    undisturbed >= FEWEST && 2 * undisturbed > all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_trials_count_only_when_there_are_too_few_others() {
        let of = |disturbed: usize, others: usize| {
            leaves_out_disturbed([true].repeat(disturbed).into_iter().chain([false].repeat(others)))
        };
        assert_eq!([of(1, 5), of(4, 5), of(5, 5), of(1, 4)], [true, true, false, false]);
    }
}

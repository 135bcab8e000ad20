//! Selects the trials of a result for the run loop, the analysis and all comparisons.

use crate::{Trial, ValidityWarning};

/// Below this number of undisturbed trials, disturbed ones are used as well.
const FEWEST: usize = 5;

impl Trial {
    /// Whether other work or a stall affected the trial. Never depends on the measured value.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let is_cause = |warning: &ValidityWarning| {
            matches!(warning, ValidityWarning::Disturbed { .. } | ValidityWarning::Stalled { .. })
        };
        self.warnings.iter().any(is_cause)
    }

    /// Whether the observer missed the whole trial.
    #[must_use]
    pub fn is_unwatched(&self) -> bool {
        self.observed.as_ref().is_some_and(|seen| seen.elapsed.0 == 0 && !seen.failed.is_empty())
    }

    /// Whether the trial was disturbed or ended early.
    #[must_use]
    pub fn is_flawed(&self) -> bool {
        let ended_early = |warning: &ValidityWarning| match warning {
            ValidityWarning::Interrupted { .. } => true,
            ValidityWarning::OtherDuration { requested, measured } => measured.0 < requested.0 / 2,
            _ => false,
        };
        self.is_disturbed() || self.warnings.iter().any(ended_early)
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

/// Returns whether most of a result's trials were disturbed, given whether each was. If so, the result is not compared,
/// because the other work may explain any difference.
#[must_use]
pub fn is_mostly_disturbed(trials: impl IntoIterator<Item = bool>) -> bool {
    let (mut all, mut disturbed) = (0, 0);
    for is_disturbed in trials {
        all += 1;
        disturbed += usize::from(is_disturbed);
    }
    2 * disturbed > all
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

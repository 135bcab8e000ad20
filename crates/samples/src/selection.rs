//! Which trials of a result count. The run loop, the analysis and all comparisons use the same trials.

use crate::{Trial, ValidityWarning};

/// Minimum number of undisturbed trials; with fewer, disturbed ones count as well.
const FEWEST: usize = 5;

impl Trial {
    /// Whether other work, a stall or an early end affected the trial. Decided by the cause, never by the value.
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

/// Whether the disturbed trials of a result are left out, given for each of its trials whether it was disturbed: if the others are
/// the majority and enough for an interval. Trials of the repeated baseline, of probes and of pairs measured alone are counted
/// each for themselves.
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

//! Trials that were made and have no value, and why.

use findings::Findings;
use samples::{Arm, RunRecord, Trial};

use crate::phrases::count;

/// Trials of results of which nothing is known.
pub(super) struct Valueless {
    pub(super) trials: usize,
    results: usize,
    /// Each reason once, with its number of trials.
    reasons: Vec<(&'static str, u64)>,
}

impl Valueless {
    /// Trials whose results are missing in the findings.
    pub(super) fn of(record: &RunRecord, findings: &Findings) -> Self {
        let known = |trial: &&Trial| {
            trial.arm != Arm::Probed && !findings.results.iter().any(|result| result.id == trial.result)
        };
        let trials: Vec<&Trial> = record.trials.iter().filter(known).collect();
        let mut results: Vec<&str> = trials.iter().map(|trial| trial.result.as_str()).collect();
        results.sort_unstable();
        results.dedup();
        let mut reasons: Vec<(&'static str, u64)> = Vec::new();
        for reason in trials.iter().map(|trial| trial.measurement.kind().why_no_value()) {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, trials)) => *trials += 1,
                None => reasons.push((reason, 1)),
            }
        }
        Self { trials: trials.len(), results: results.len(), reasons }
    }

    /// `3 trials of 1 cell have no value: nothing reached the receiver.`
    pub(super) fn in_words(&self) -> String {
        let trials = count(self.trials as u64, "trial", "trials");
        let results = count(self.results as u64, "result", "results");
        let have = if self.trials == 1 { "has" } else { "have" };
        let reason = match self.reasons.as_slice() {
            [(reason, _)] => (*reason).to_owned(),
            several => {
                several.iter().map(|(reason, of)| format!("{of}: {reason}")).collect::<Vec<_>>().join("; ")
            }
        };
        format!("{trials} of {results} {have} no value: {reason}.")
    }
}

//! Trials without a value, and the reasons.

use findings::Findings;
use samples::{Arm, RunRecord, Trial};

use crate::phrases::count;

pub(super) struct Valueless {
    pub(super) trials: usize,
    results: usize,
    reasons: Vec<(&'static str, u64)>,
}

impl Valueless {
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

    pub(super) fn in_words(&self) -> String {
        let trials = count(self.trials, "trial");
        let results = count(self.results, "result");
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

//! Trials that were made and have no value, and why.

use findings::Findings;
use samples::{Arm, RunRecord, Trial};

use crate::phrases::count;

/// Trials of cells of which nothing is known.
pub(super) struct Valueless {
    pub(super) trials: usize,
    cells: usize,
    /// Each reason once, with its number of trials.
    reasons: Vec<(&'static str, u64)>,
}

impl Valueless {
    /// Trials whose results are missing in the findings.
    pub(super) fn of(record: &RunRecord, findings: &Findings) -> Self {
        let known = |trial: &&Trial| {
            trial.arm != Arm::Probed && !findings.cells.iter().any(|cell| cell.id == trial.cell)
        };
        let trials: Vec<&Trial> = record.trials.iter().filter(known).collect();
        let mut cells: Vec<&str> = trials.iter().map(|trial| trial.cell.as_str()).collect();
        cells.sort_unstable();
        cells.dedup();
        let mut reasons: Vec<(&'static str, u64)> = Vec::new();
        for why in trials.iter().map(|trial| trial.measurement.kind().why_no_value()) {
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, trials)) => *trials += 1,
                None => reasons.push((why, 1)),
            }
        }
        Self { trials: trials.len(), cells: cells.len(), reasons }
    }

    /// `3 trials of 1 cell have no value: nothing reached the receiver.`
    pub(super) fn in_words(&self) -> String {
        let trials = count(self.trials as u64, "trial", "trials");
        let cells = count(self.cells as u64, "result", "results");
        let have = if self.trials == 1 { "has" } else { "have" };
        let why = match self.reasons.as_slice() {
            [(why, _)] => (*why).to_owned(),
            several => several.iter().map(|(why, of)| format!("{of}: {why}")).collect::<Vec<_>>().join("; "),
        };
        format!("{trials} of {cells} {have} no value: {why}.")
    }
}

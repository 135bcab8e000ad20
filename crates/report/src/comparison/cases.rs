//! The gate's outcome for each result, in one line.

use findings::{Gate, GateOutcome, RunComparison};

use crate::{
    page::*,
    phrases::{self, Confidence},
};

pub(crate) struct Case {
    pub(crate) outcome: GateOutcome,
    pub(crate) label: String,
    pub(crate) detail: String,
}

/// Regressions come first, then undecided results.
pub(crate) fn all(comparison: &RunComparison, gate: &Gate) -> Vec<Case> {
    let common = comparison.results.iter().map(|result| {
        let share = result.comparison.map(|it| format!("{} of A", phrases::share(&it, Confidence::Inline)));
        case(gate, &result.result, comparison.label(result), share)
    });
    let missing = comparison.only_a.iter().map(|result| case(gate, result, result.clone(), None));
    let mut cases: Vec<Case> = common.chain(missing).collect();
    cases.sort_by_key(|case| match case.outcome {
        GateOutcome::Regressed => 0,
        GateOutcome::Undecided => 1,
        GateOutcome::Passed => 2,
    });
    cases
}

fn case(gate: &Gate, result: &str, label: String, share: Option<String>) -> Case {
    let (outcome, reasons) = gate.of(result);
    let reasons = (!reasons.is_empty()).then(|| reasons.join(" "));
    let detail = share.into_iter().chain(reasons).join(". ");
    Case { outcome, label, detail }
}

impl Case {
    pub(crate) fn line(&self) -> Text {
        let (tone, mark) = match self.outcome {
            GateOutcome::Passed => (Tone::Good, "✓ "),
            GateOutcome::Regressed => (Tone::Bad, "✗ "),
            GateOutcome::Undecided => (Tone::Doubtful, "? "),
        };
        Text::of(tone, mark).and_strong(&self.label).and_plain(format!(": {}", self.detail))
    }
}

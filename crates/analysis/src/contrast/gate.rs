//! Whether a run lost more than it may. Must not know how its cells were judged.

use findings::{CellContrast, Contrast, Gate, GateOutcome, Verdict};
use stats::{Estimate, Interval, ab};

use super::surroundings;
use crate::alone::MARGIN;

/// What can be said of losses beyond `most_loss` (0.05 is 5 %) of run B against run A.
///
/// Lost only when a cell is worse and its ratio's interval, widened by the noise of both runs, lies beyond the
/// threshold, or when nothing came through in B any more; passed only when that of every cell of A lies within. Runs of
/// different machines or scenarios, or a cell that B lacks, leave it open.
#[must_use]
pub fn gate(contrast: &Contrast, most_loss: f64) -> Gate {
    let comparable = !surroundings::other_machine(contrast) && !surroundings::other_scenario(contrast);
    let (mut lost, mut unknown) = (Vec::new(), contrast.only_a.clone());
    for cell in &contrast.cells {
        match Loss::of(cell, most_loss) {
            Loss::Established if comparable => lost.push(cell.cell.clone()),
            Loss::Excluded if comparable => {}
            _ => unknown.push(cell.cell.clone()),
        }
    }
    let outcome = match (lost.is_empty(), unknown.is_empty() && !contrast.cells.is_empty()) {
        (false, _) => GateOutcome::Lost,
        (true, true) => GateOutcome::Passed,
        (true, false) => GateOutcome::CannotTell,
    };
    Gate { most_loss, outcome, lost, unknown }
}

/// Whether a cell lost more than the threshold.
enum Loss {
    Established,
    Excluded,
    Open,
}

impl Loss {
    fn of(cell: &CellContrast, most_loss: f64) -> Self {
        // Of what went out there is no ratio.
        if cell.verdict == Verdict::Worse && cell.comparison.is_none() {
            return Self::Established;
        }
        let Some(change) = change(cell) else { return Self::Open };
        let least = 1.0 - most_loss;
        if cell.verdict == Verdict::Worse && change.high < least {
            Self::Established
        } else if change.low >= least {
            Self::Excluded
        } else {
            Self::Open
        }
    }
}

/// What is left of the metric's goodness, from at least to at most.
fn change(cell: &CellContrast) -> Option<Interval> {
    let comparison = cell.comparison.as_ref()?;
    let more = cell.metric.more_is_better()?;
    let interval = comparison.ratio_interval?;
    let interval = Interval { low: interval.low, high: interval.high, confidence: interval.confidence };
    if interval.confidence < stats::verdict::LEAST_CONFIDENCE - 1e-12 {
        return None;
    }
    let ratio = Estimate { value: comparison.ratio, interval: Some(interval) };
    let change = ab::change(&ratio, cell.floor.unwrap_or(MARGIN))?;
    Some(if more {
        change
    } else {
        Interval { low: change.high.recip(), high: change.low.recip(), ..change }
    })
}

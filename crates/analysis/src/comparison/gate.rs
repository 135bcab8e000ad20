//! Whether a run lost more than it may.

use findings::{CellComparison, Gate, GateOutcome, OpenQuestion, RunComparison, Verdict};
use stats::{Estimate, Interval, ab, verdict};

use super::environment;
use crate::words::percent;

/// Checks run B against run A for regressions beyond `most_loss` (0.05 is 5 %). Fails if a result is worse and the interval of
/// its ratio, widened by the noise, is beyond the threshold, or if nothing arrives any more. Passes if the intervals of all
/// results of A are within it. Otherwise, or for different machines or scenarios, it is undecided.
#[must_use]
pub fn gate(contrast: &RunComparison, most_loss: f64) -> Gate {
    let apart = incomparable(contrast);
    let missing = contrast.only_a.iter().map(|cell| undecided(cell, "B has no such result."));
    let (mut lost, mut unknown) = (Vec::new(), missing.collect::<Vec<_>>());
    for cell in &contrast.cells {
        match (Loss::of(cell, most_loss), apart) {
            (Loss::Open(why), None) => unknown.push(undecided(&cell.cell, &why)),
            (_, Some(why)) => unknown.push(undecided(&cell.cell, why)),
            (Loss::Established, None) => lost.push(cell.cell.clone()),
            (Loss::Excluded, None) => {}
        }
    }
    let outcome = match (lost.is_empty(), unknown.is_empty() && !contrast.cells.is_empty()) {
        (false, _) => GateOutcome::Lost,
        (true, true) => GateOutcome::Passed,
        (true, false) => GateOutcome::CannotTell,
    };
    Gate { most_loss, outcome, lost, unknown }
}

fn undecided(cell: &str, why: &str) -> OpenQuestion {
    OpenQuestion { cell: cell.to_owned(), why: why.to_owned() }
}

/// Why no loss of any cell follows from these runs.
fn incomparable(contrast: &RunComparison) -> Option<&'static str> {
    if environment::other_machine(contrast) {
        return Some("The runs were made on different machines.");
    }
    environment::other_scenario(contrast).then_some("The runs have different scenarios.")
}

/// Whether a cell lost more than the threshold.
enum Loss {
    Established,
    Excluded,
    /// Reason for being undecided.
    Open(String),
}

impl Loss {
    fn of(cell: &CellComparison, most_loss: f64) -> Self {
        if let Some(why) = &cell.disturbed {
            return Self::Open(why.clone());
        }
        // Complete outages have no ratio.
        if cell.verdict == Verdict::Worse && cell.comparison.is_none() {
            return Self::Established;
        }
        let Some(change) = change(cell) else { return Self::Open(without_a_change(cell)) };
        let least = 1.0 - most_loss;
        if cell.verdict == Verdict::Worse && change.high < least {
            Self::Established
        } else if change.low >= least {
            Self::Excluded
        } else {
            Self::Open(open(cell, &change, most_loss))
        }
    }
}

fn without_a_change(cell: &CellComparison) -> String {
    cell.why.clone().unwrap_or_else(|| "There are too few trials for a useful interval.".into())
}

fn open(cell: &CellComparison, change: &Interval, most_loss: f64) -> String {
    let noise = cell.floor.unwrap_or_default();
    if noise >= most_loss {
        let noise_source = match &cell.between_runs {
            Some(runs) if runs.floor >= noise => {
                format!("The noise between {} runs of this scenario", runs.runs)
            }
            _ if cell.p.is_none() => "The tolerance for few trials".to_owned(),
            _ => "The noise between two runs".to_owned(),
        };
        return format!("{noise_source}, {}, hides a loss of {}.", percent(noise), asked(most_loss));
    }
    format!(
        "With {} noise, the loss is between {} and {}; more trials would narrow this range.",
        percent(noise),
        percent((1.0 - change.high).max(0.0)),
        percent((1.0 - change.low).max(0.0))
    )
}

/// A threshold as given by the user: `5 %`.
fn asked(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// Remaining performance, from minimum to maximum.
fn change(cell: &CellComparison) -> Option<Interval> {
    let comparison = cell.comparison.as_ref()?;
    let more = cell.metric.more_is_better()?;
    let interval = comparison.ratio_interval?;
    let interval = Interval { low: interval.low, high: interval.high, confidence: interval.confidence };
    if !verdict::is_sure(interval.confidence) {
        return None;
    }
    let ratio = Estimate { value: comparison.ratio, interval: Some(interval) };
    let change = ab::change(&ratio, cell.floor?)?;
    Some(if more {
        change
    } else {
        Interval { low: change.high.recip(), high: change.low.recip(), ..change }
    })
}

//! Common part of the rules about busy ends: results with one kind of warning in most trials.

use findings::{CellSummary, Change, Evidence, Finding, Severity};
use samples::ValidityWarning;
use workload::Mode;

use super::Context;
use crate::words::{count, percent};

/// Texts of a rule.
pub(crate) struct Words {
    /// `sending` or `receiving`.
    pub(crate) doing: &'static str,
    /// When it could be wrong.
    pub(crate) caveat: &'static str,
}

/// One claim for all cells that had the doubt in at least half of their trials.
pub(crate) fn look(
    context: &Context<'_>,
    words: &Words,
    busy: fn(&ValidityWarning) -> Option<(&str, f64)>,
) -> Option<Finding> {
    let mut doubted: Vec<(&CellSummary, &str, f64)> =
        context.findings.cells.iter().filter_map(|cell| mostly(cell, busy)).collect();
    doubted.sort_by(|one, other| other.2.total_cmp(&one.2));
    let most = doubted.iter().map(|(_, _, busy)| *busy).fold(0.0, f64::max);
    let doing = words.doing;
    (!doubted.is_empty()).then(|| Finding {
        id: String::new(),
        severity: Severity::Note,
        claim: format!(
            "A {doing} thread was busy up to {} of the time in {}: it may be the limit, not the path.",
            percent(most),
            count(doubted.len(), "result")
        ),
        cells: doubted.iter().map(|(cell, _, _)| cell.id.clone()).collect(),
        evidence: doubted
            .iter()
            .map(|(cell, end, busy)| {
                Evidence::new(format!("busiest {doing} thread at the {end}, {}", cell.id))
                    .share(*busy)
                    .text(" of one CPU")
            })
            .collect(),
        caveats: vec![words.caveat.into()],
        remedy: None,
    })
}

/// The cell, the end and how busy it was, where at least half of the trials had the doubt.
pub(crate) fn mostly(
    cell: &CellSummary,
    busy: fn(&ValidityWarning) -> Option<(&str, f64)>,
) -> Option<(&CellSummary, &str, f64)> {
    let often = cell.doubts.iter().filter(|(_, trials)| trials.saturating_mul(2) >= cell.value.trials);
    often.filter_map(|(doubt, _)| busy(doubt)).map(|(end, busy)| (cell, end, busy)).next()
}

/// Relief for the busy thread of the first result: limit mode or, if already used, more threads.
pub(crate) fn relief(finding: &Finding, context: &Context<'_>) -> Option<Change> {
    let cell = finding.cells.first()?;
    let load = context.measured_of(cell)?.asked()?;
    if load.mode == Mode::App { Some(Change::LimitMode) } else { more_streams(cell, context) }
}

/// Twice the streams of a cell.
pub(crate) fn more_streams(cell: &str, context: &Context<'_>) -> Option<Change> {
    const MOST: u32 = 128;
    let load = context.measured_of(cell)?.asked()?;
    (load.streams <= MOST / 2).then(|| Change::Streams { streams: load.streams * 2 })
}

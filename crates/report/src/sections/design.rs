//! How the trials were chosen, where that was left to what the earlier ones said. Must not know their numbers.

use findings::{CellSummary, Findings, Objective, RunSummary};
use samples::{CellEnd, EndReason};
use units::Share;

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, left, right, section},
    phrases,
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let ended: Vec<(&CellSummary, &CellEnd)> =
        findings.cells.iter().filter_map(|cell| Some((cell, cell.ended.as_ref()?))).collect();
    if !findings.run.design.is_adaptive() && ended.iter().all(|(_, end)| end.why == EndReason::Planned) {
        return None;
    }
    let hurried = ended.iter().any(|(_, end)| matches!(end.why, EndReason::Budget { .. }));
    let mut blocks = vec![Block::Paragraph(saved(&findings.run, hurried))];
    let reasons: Vec<Text> = REASONS.iter().filter_map(|reason| reason.said(&ended)).collect();
    blocks.extend((!reasons.is_empty()).then_some(Block::List(reasons)));
    if !ended.is_empty() {
        let table = Block::Table(table(findings, &ended));
        blocks.push(Block::Folded { title: "Cell by cell".into(), blocks: vec![table] });
    }
    Some(section("How trials were chosen", blocks))
}

/// `62 trials of 189 in the full grid were made, 127 were saved. Asked: 10 min for all, …`.
fn saved(run: &RunSummary, hurried: bool) -> Text {
    let rest = u64::from(run.planned.saturating_sub(run.made));
    let made = format!(
        "{} of {} that the full grid has were made, {rest} were {}.",
        phrases::count(u64::from(run.made), "trial", "trials"),
        run.planned,
        if hurried { "saved, or had no time left" } else { "saved" }
    );
    let budget = run.design.budget.map(|budget| format!("{budget} for all trials"));
    let precision = run.design.precision.map(|share| format!("medians to within {}", Share(share)));
    let sought = match run.design.objective {
        _ if run.design.until_clear => "blocks until every comparison is clear",
        Objective::Max => "the setting with the most",
        Objective::Efficient => "the setting with the most for its CPU time",
        Objective::LowCpu => "the setting with the least CPU time",
    };
    let asked: Vec<String> = budget.into_iter().chain(precision).chain([sought.to_owned()]).collect();
    Text::of(Tone::Strong, made).and(Tone::Plain, format!(" Asked for: {}.", asked.join(", ")))
}

/// Cells that ended for one reason.
struct Reason {
    is: fn(&EndReason) -> bool,
    said: &'static str,
}

const REASONS: &[Reason] = &[
    Reason {
        is: |why| matches!(why, EndReason::Precise { .. }),
        said: "the interval is as narrow as was asked",
    },
    Reason {
        is: |why| matches!(why, EndReason::Settled),
        said: "it cannot be among the best any more, nor next to the knee, so that the time went to others",
    },
    Reason {
        is: |why| matches!(why, EndReason::Clear),
        said: "each comparison of it is established, or within the noise",
    },
    Reason { is: |why| matches!(why, EndReason::Budget { .. }), said: "the time was over" },
    Reason {
        is: |why| matches!(why, EndReason::Unusable { .. }),
        said: "nothing came through in some of its trials, or none can be used, so that it is out",
    },
    Reason { is: |why| matches!(why, EndReason::Planned), said: "all trials that were planned were made" },
];

impl Reason {
    fn said(&self, ended: &[(&CellSummary, &CellEnd)]) -> Option<Text> {
        let cells = ended.iter().filter(|(_, end)| (self.is)(&end.why)).count();
        let count = phrases::count(cells as u64, "cell", "cells");
        (cells > 0).then(|| Text::of(Tone::Strong, count).and(Tone::Plain, format!(": {}", self.said)))
    }
}

fn table(findings: &Findings, ended: &[(&CellSummary, &CellEnd)]) -> Table {
    let row = |(cell, end): &(&CellSummary, &CellEnd)| -> Vec<Text> {
        vec![labels::cell(findings, cell).into(), end.trials.to_string().into(), why(&end.why).into()]
    };
    Table {
        columns: vec![left("Cell"), right("Trials"), left("Why no more")],
        rows: ended.iter().map(row).collect(),
        caption: None,
    }
}

fn why(why: &EndReason) -> String {
    match why {
        EndReason::Planned => "all that were planned".to_owned(),
        EndReason::Precise { reach } => format!("precise: within {} of the median", Share(*reach)),
        EndReason::Budget { reach: Some(reach) } => {
            format!("the time was over, within {} of the median", Share(*reach))
        }
        EndReason::Budget { reach: None } => "the time was over, with too few for an interval".to_owned(),
        EndReason::Settled => "cannot be among the best, nor next to the knee".to_owned(),
        EndReason::Clear => "each comparison is clear".to_owned(),
        EndReason::Unusable { trials } => {
            format!("out: {trials} of its trials brought nothing that can be used")
        }
    }
}

//! Interval series of each end, for the first trial of each cell.

use findings::CellSummary;
use samples::{Arm, RunRecord};
use units::Nanos;
use workload::Measurement;

use super::Source;
use crate::{
    kind, labels,
    page::{Block, Section, section},
    pictures::time_series,
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let record = source.record?;
    let folded: Vec<Block> = source
        .findings
        .cells
        .iter()
        .filter_map(|cell| Some((cell, kind::intervals(first(record, cell)?))))
        .filter(|(_, blocks)| !blocks.is_empty())
        .map(|(cell, blocks)| {
            let chart = time_series::chart(source, record, cell).map(|chart| Block::Chart(Box::new(chart)));
            (cell, chart.into_iter().chain(blocks).collect())
        })
        .map(|(cell, blocks)| Block::Folded { title: labels::cell(source.findings, cell).into(), blocks })
        .collect();
    if folded.is_empty() {
        return None;
    }
    let lead = "First trial per result, as recorded by its ends; totals exclude the warm-up.";
    Some(section("Interval data", [Block::Paragraph(lead.into())].into_iter().chain(folded).collect()))
}

fn first<'a>(record: &'a RunRecord, cell: &CellSummary) -> Option<&'a Measurement> {
    let trials = record.trials.iter().filter(|trial| trial.cell == cell.id && trial.arm == Arm::Measure);
    trials.min_by_key(|trial| trial.block).map(|trial| &trial.measurement)
}

/// `0.10-0.20 s`, marked during the warm-up.
pub(crate) fn span(start: Nanos, end: Nanos, warmup: bool) -> Text {
    let mark = if warmup { " warm-up" } else { "" };
    Text::from(format!("{:.2}-{:.2} s", start.seconds(), end.seconds())).and(Tone::Faint, mark)
}

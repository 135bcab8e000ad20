//! Interval series of each end, for the first trial of each result.

use findings::ResultSummary;
use samples::{Arm, RunRecord};
use units::Nanos;
use workload::Measurement;

use super::Source;
use crate::{kind, page::*, pictures::time_series};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let record = source.record?;
    let folded: Vec<Block> = source
        .findings
        .results
        .iter()
        .filter_map(|result| Some((result, kind::intervals(first(record, result)?))))
        .filter(|(_, blocks)| !blocks.is_empty())
        .map(|(result, blocks)| {
            let chart = time_series::chart(record, result).map(|chart| Block::Chart(Box::new(chart)));
            (result, chart.into_iter().chain(blocks).collect())
        })
        .map(|(result, blocks)| Block::Folded { title: result.label.as_str().into(), blocks })
        .collect();
    if folded.is_empty() {
        return None;
    }
    let lead = "First trial of each result, as recorded by each end. Totals exclude the warm-up.";
    Some(section("Interval data", [Block::Paragraph(lead.into())].into_iter().chain(folded).collect()))
}

fn first<'a>(record: &'a RunRecord, result: &ResultSummary) -> Option<&'a Measurement> {
    let trials = record.trials.iter().filter(|trial| trial.result == result.id && trial.arm == Arm::Measure);
    trials.min_by_key(|trial| trial.block).map(|trial| &trial.measurement)
}

pub(crate) fn span(start: Nanos, end: Nanos, warmup: bool) -> Text {
    let mark = if warmup { " warm-up" } else { "" };
    Text::from(format!("{:.2}-{:.2} s", start.seconds(), end.seconds())).and_faint(mark)
}

//! Round trips: the average and the percentiles of each cell side by side. Must not know streams.

use findings::{CellSummary, Findings, LatencySummary, Metric};
use units::{Nanos, significant};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left, right},
    phrases::{self, Confidence},
    text::{Text, Tone},
};

/// So many cells stand side by side in one table of percentiles.
const ABREAST: usize = 4;

type Row<'a> = (&'a CellSummary, &'a LatencySummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let cells: Vec<Row<'_>> =
        findings.cells.iter().filter_map(|cell| Some((cell, cell.latency.as_ref()?))).collect();
    if cells.is_empty() {
        return None;
    }
    let percentiles = cells.chunks(ABREAST).map(|cells| Block::Table(percentiles(findings, cells)));
    let mut blocks = vec![Block::Table(averages(findings, &cells)), Block::Heading("Percentiles".into())];
    blocks.extend(percentiles);
    blocks.push(Block::Paragraph(
        "Whole round trips, never half of them; all trials' distributions merged.".into(),
    ));
    Some(detail("Latency", blocks))
}

fn averages(findings: &Findings, cells: &[Row<'_>]) -> Table {
    let mut columns = vec![left("Cell")];
    columns
        .extend(["Median", "Mean", "Std dev", "Messages/s", "Round trips", "Lost", "Of baseline"].map(right));
    let row = |(cell, latency): &Row<'_>| {
        let share = cell
            .against_baseline
            .as_ref()
            .map_or("baseline".into(), |c| phrases::share(c, Confidence::InHead).into());
        vec![
            labels::cell(findings, cell).into(),
            phrases::estimate(Metric::RoundTrip, &cell.value).into(),
            phrases::value(Metric::RoundTrip, latency.mean).into(),
            phrases::value(Metric::RoundTrip, latency.deviation).into(),
            significant(latency.rate, 3).into(),
            latency.count.to_string().into(),
            latency.lost.to_string().into(),
            share,
        ]
    };
    Table { columns, rows: cells.iter().map(row).collect(), caption: None }
}

fn percentiles(findings: &Findings, cells: &[Row<'_>]) -> Table {
    let mut columns = vec![left("Percentile")];
    columns.extend(cells.iter().map(|(cell, _)| right(labels::cell(findings, cell))));
    let across = |name: String, time: &dyn Fn(&LatencySummary) -> Option<Nanos>| {
        let times =
            cells.iter().map(|(_, latency)| time(latency).map_or("-".into(), |time| time.to_string().into()));
        [Text::of(Tone::Strong, name)].into_iter().chain(times).collect::<Vec<Text>>()
    };
    let shares = cells.first().map(|(_, latency)| latency.percentiles.as_slice()).unwrap_or_default();
    let mut rows = vec![across("Min".to_owned(), &|latency| Some(latency.min))];
    rows.extend(shares.iter().map(|(share, _)| across(name(*share), &|latency| at(latency, *share))));
    rows.push(across("Max".to_owned(), &|latency| Some(latency.max)));
    Table { columns, rows, caption: None }
}

fn at(latency: &LatencySummary, share: f64) -> Option<Nanos> {
    latency.percentiles.iter().find(|(other, _)| (other - share).abs() < 1e-9).map(|(_, time)| *time)
}

/// `99.9th`, `50th (median)`.
fn name(share: f64) -> String {
    let percent = (share * 1e5).round() / 1e3;
    if (percent - 50.0).abs() < 1e-9 { "50th (median)".to_owned() } else { format!("{percent}th") }
}

//! Round trips: mean and percentiles of each cell side by side.

use findings::{CellSummary, Findings, LatencySummary};
use units::significant;
use workload::Metric;

use super::{
    Source,
    percentiles::{self, TitledDistribution},
};
use crate::{
    chart::Chart,
    labels,
    page::{Block, Section, Table, left, right, section},
    phrases::{self, Confidence},
    pictures,
};

const OPEN_LOOP: &str = "In an open loop each message has an intended send time, independent of the previous one. \
     Measured from that time, a stall counts for every delayed message; measured from the actual send time, it \
     counts once. Lateness is the part caused by the sender.";

type Row<'a> = (&'a CellSummary, &'a LatencySummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let cells: Vec<Row<'_>> =
        findings.cells.iter().filter_map(|cell| Some((cell, LatencySummary::of(cell)?))).collect();
    if cells.is_empty() {
        return None;
    }
    let named: Vec<TitledDistribution<'_>> = cells
        .iter()
        .flat_map(|(cell, latency)| distributions(labels::cell(findings, cell), latency))
        .collect();
    let mut blocks = vec![Block::Table(averages(findings, &cells)), Block::Heading("Percentiles".into())];
    let is_timed = |cell: &CellSummary| LatencySummary::of(cell).is_some();
    blocks.extend(percentile_pictures(source, is_timed));
    blocks.extend(percentiles::tables(&named));
    blocks.push(Block::Paragraph("Full round trips, with the distributions of all trials merged.".into()));
    if cells.iter().any(|(_, latency)| latency.open_loop.is_some()) {
        blocks.push(Block::Paragraph(OPEN_LOOP.into()));
    }
    blocks.extend(shapes(source, is_timed));
    Some(section("Latency", blocks))
}

/// Maximum number of distributions drawn separately.
const DRAWN: usize = 6;

pub(super) fn percentile_pictures(source: &Source<'_>, wanted: fn(&CellSummary) -> bool) -> Vec<Block> {
    drawn(pictures::percentiles::charts(source, wanted))
}

/// The shapes of the first distributions.
pub(super) fn shapes(source: &Source<'_>, wanted: fn(&CellSummary) -> bool) -> Option<Block> {
    let shapes = drawn(pictures::histogram::charts(source, wanted).into_iter().take(DRAWN).collect());
    (!shapes.is_empty()).then(|| Block::Folded { title: "Distributions".into(), blocks: shapes })
}

fn drawn(charts: Vec<Chart>) -> Vec<Block> {
    charts.into_iter().map(|chart| Block::Chart(Box::new(chart))).collect()
}

/// Round trips, and for an open loop those relative to the schedule.
pub(crate) fn distributions(label: String, latency: &LatencySummary) -> Vec<TitledDistribution<'_>> {
    let Some(open) = &latency.open_loop else { return vec![(label, &latency.round_trips)] };
    vec![
        (format!("{label}, since intended"), &open.since_intended),
        (format!("{label}, since sent"), &latency.round_trips),
        (format!("{label}, lateness"), &open.lateness),
    ]
}

fn averages(findings: &Findings, cells: &[Row<'_>]) -> Table {
    let mut columns = vec![left("Result")];
    columns.extend(
        ["Median", "Mean", "Std dev", "Messages/s", "Round trips", "Lost", "Of baseline", "Difference"]
            .map(right),
    );
    let loaded = cells.iter().any(|(_, latency)| latency.under.is_some());
    columns.extend(loaded.then(|| right("Background load")));
    let row = |(cell, latency): &Row<'_>| {
        let under = latency
            .under
            .as_ref()
            .map_or("-".into(), |rate| phrases::estimate(Metric::Throughput, rate).into());
        let mut row = vec![
            labels::cell(findings, cell).into(),
            phrases::estimate(Metric::RoundTrip, &cell.value).into(),
            phrases::value(Metric::RoundTrip, latency.judged().mean).into(),
            phrases::value(Metric::RoundTrip, latency.judged().deviation).into(),
            latency.rate.map_or_else(|| "unknown".to_owned(), |rate| significant(rate, 3)).into(),
            latency.round_trips.count.to_string().into(),
            phrases::lost_messages(latency).into(),
            phrases::of_baseline(findings, cell),
            phrases::to_baseline(findings, cell, Confidence::InHead),
        ];
        row.extend(loaded.then_some(under));
        row
    };
    Table { columns, rows: cells.iter().map(row).collect(), caption: None }
}

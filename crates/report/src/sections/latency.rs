//! The mean and percentiles of each result's round trips, side by side.

use findings::{LatencySummary, ResultSummary};
use units::significant;
use workload::Metric;

use super::{
    Source,
    percentiles::{self, TitledDistribution},
};
use crate::{
    chart::Chart,
    page::*,
    phrases::{self, Confidence},
    pictures,
};

const OPEN_LOOP: &str = "In an open loop, each message has an intended send time, independent of the previous message. \
     Times \"since intended\" include a stall for every message that it delays; times \"since sent\" include it \
     once. Lateness is the delay caused by the sender.";

type Row<'a> = (&'a ResultSummary, &'a LatencySummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let results: Vec<Row<'_>> =
        findings.results.iter().filter_map(|result| Some((result, LatencySummary::of(result)?))).collect();
    if results.is_empty() {
        return None;
    }
    let named: Vec<TitledDistribution<'_>> =
        results.iter().flat_map(|(result, latency)| distributions(result.label.clone(), latency)).collect();
    let mut blocks = vec![Block::Table(averages(&results)), Block::Heading("Percentiles".into())];
    let is_timed = |result: &ResultSummary| LatencySummary::of(result).is_some();
    blocks.extend(percentile_pictures(source, is_timed));
    blocks.extend(percentiles::pooled_tables(&named));
    if results.iter().any(|(_, latency)| latency.open_loop.is_some()) {
        blocks.push(Block::Paragraph(OPEN_LOOP.into()));
    }
    blocks.extend(shapes(source, is_timed));
    Some(section("Latency", blocks))
}

const DRAWN: usize = 6;

pub(super) fn percentile_pictures(source: &Source<'_>, wanted: fn(&ResultSummary) -> bool) -> Vec<Block> {
    drawn(pictures::percentiles::charts(source, wanted))
}

pub(super) fn shapes(source: &Source<'_>, wanted: fn(&ResultSummary) -> bool) -> Option<Block> {
    let shapes = drawn(pictures::histogram::charts(source, wanted).into_iter().take(DRAWN).collect());
    (!shapes.is_empty()).then(|| Block::Folded { title: "Distributions".into(), blocks: shapes })
}

fn drawn(charts: Vec<Chart>) -> Vec<Block> {
    charts.into_iter().map(|chart| Block::Chart(Box::new(chart))).collect()
}

pub(crate) fn distributions(label: String, latency: &LatencySummary) -> Vec<TitledDistribution<'_>> {
    let Some(open) = &latency.open_loop else { return vec![(label, &latency.round_trips)] };
    vec![
        (format!("{label}, since intended"), &open.since_intended),
        (format!("{label}, since sent"), &latency.round_trips),
        (format!("{label}, lateness"), &open.lateness),
    ]
}

fn averages(results: &[Row<'_>]) -> Table {
    let mut columns = vec![left("Result")];
    columns.extend(
        ["Median", "Mean", "Std dev", "Messages/s", "Round trips", "Lost", "Of baseline", "Difference"]
            .map(right),
    );
    let loaded = results.iter().any(|(_, latency)| latency.under.is_some());
    columns.extend(loaded.then(|| right("Background load")));
    let row = |(result, latency): &Row<'_>| {
        let under = latency
            .under
            .as_ref()
            .map_or("-".into(), |rate| phrases::estimate(Metric::Throughput, rate).into());
        let mut row = vec![
            result.label.as_str().into(),
            phrases::estimate(Metric::RoundTrip, &result.value).into(),
            phrases::value(Metric::RoundTrip, latency.judged().mean).into(),
            phrases::value(Metric::RoundTrip, latency.judged().deviation).into(),
            latency.rate.map_or_else(|| "unknown".to_owned(), |rate| significant(rate, 3)).into(),
            latency.round_trips.count.to_string().into(),
            phrases::lost_messages(latency).into(),
            phrases::of_baseline(result),
            phrases::to_baseline(result, Confidence::InHead),
        ];
        row.extend(loaded.then_some(under));
        row
    };
    Table { columns, rows: results.iter().map(row).collect(), caption: None }
}

//! The summary: one row for each cell, one table for each workload. Must not know the samples within trials.

use findings::{CellSummary, DatagramSummary, Difference, Distribution, Findings, LatencySummary, Metric};
use units::significant;

use super::Source;
use crate::{
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases::{self, Confidence},
    text::{Text, Tone, glued},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let blocks: Vec<Block> =
        labels::workloads(findings).into_iter().flat_map(|workload| summary(findings, workload)).collect();
    (!blocks.is_empty()).then(|| section("Results", blocks))
}

fn summary(findings: &Findings, workload: &str) -> Vec<Block> {
    let cells: Vec<&CellSummary> = findings.cells.iter().filter(|cell| cell.workload == workload).collect();
    let Some(first) = cells.first() else { return Vec::new() };
    let same_load = cells.iter().all(|cell| cell.load == first.load);
    let heading = if same_load { first.load.as_str() } else { "its load varies by factor" };
    let heading = Text::of(Tone::Strong, workload).and(Tone::Faint, format!(" ({heading})"));
    let factors = labels::factors(cells.iter().copied());
    let common = phrases::common(cells.iter().filter_map(|cell| cell.value.interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let table = Table {
        columns: columns(first, &factors, common.as_deref()),
        rows: cells.iter().map(|cell| row(findings, cell, &factors, confidence)).collect(),
        caption: caption(&cells),
    };
    vec![Block::Heading(heading), Block::Table(table)]
}

fn caption(cells: &[&CellSummary]) -> Option<Text> {
    let open = |cell: &&CellSummary| cell.latency.as_ref().is_some_and(|latency| latency.open_loop.is_some());
    let doubted = cells.iter().any(|cell| !cell.doubts.is_empty());
    let doubts = doubted.then_some("! there are doubts about it, listed under Caveats");
    let schedule =
        cells.iter().any(open).then_some("99 % of an open loop: since each message should have been sent");
    let said: Vec<&str> = schedule.into_iter().chain(doubts).collect();
    (!said.is_empty()).then(|| Text::of(Tone::Faint, said.join("; ")))
}

fn columns(first: &CellSummary, factors: &[&str], confidence: Option<&str>) -> Vec<Column> {
    let [value, others @ ..] = match first.metric {
        Metric::Throughput if datagrams(first).is_some() => ["Received", "Of baseline", "Lost", "CPU-s/GB"],
        Metric::Throughput => ["Received", "Of baseline", "Retr", "CPU-s/GB"],
        Metric::RoundTrip => ["Median round trip", "Of baseline", "99 %", "Lost"],
        Metric::ConnectionRate => ["Connections", "Of baseline", "99 %", "Failed"],
        Metric::Latency => ["Reported latency", "Of baseline", "99 %", "Lost"],
        Metric::MessageRate => ["Messages", "Of baseline", "99 %", "Lost"],
        Metric::Count => ["Reported count", "Of baseline", "99 %", "Lost"],
    };
    let value = confidence.map_or(value.to_owned(), |confidence| {
        format!("{value} {}", glued(&format!("({confidence} interval)")))
    });
    let factors = factors.iter().map(|factor| left(*factor));
    [left("Path")].into_iter().chain(factors).chain([right(value)]).chain(others.map(right)).collect()
}

fn row(findings: &Findings, cell: &CellSummary, factors: &[&str], confidence: Confidence) -> Vec<Text> {
    let level =
        |factor: &&str| cell.levels.get(*factor).map_or(Text::of(Tone::Faint, "-"), |l| l.as_str().into());
    let mut row = vec![Text::of(Tone::Strong, &cell.path)];
    row.extend(factors.iter().map(level));
    let mark = if cell.doubts.is_empty() { "" } else { "\u{a0}!" };
    let value = phrases::estimate_with(cell.metric, &cell.value, confidence);
    row.push(Text::from(value).and(Tone::Doubtful, mark));
    row.push(against_baseline(findings, cell));
    row.extend(rest(cell));
    row
}

fn against_baseline(findings: &Findings, cell: &CellSummary) -> Text {
    let Some(comparison) = &cell.against_baseline else {
        return Text::of(Tone::Faint, if cell.baseline { "baseline" } else { "-" });
    };
    let tone = phrases::tone(cell.metric, comparison);
    let share = Text::of(tone, phrases::share(comparison, Confidence::InHead));
    match phrases::no_difference(findings, &cell.workload, comparison) {
        Some(none) if comparison.verdict == Difference::None => none,
        Some(unclear) => unclear.and(Tone::Plain, ": ").then(share),
        None => share,
    }
}

fn rest(cell: &CellSummary) -> [Text; 2] {
    let dash = || Text::of(Tone::Faint, "-");
    if let Some(latency) = &cell.latency {
        return [p99(tail(latency)).map_or_else(dash, Text::from), latency.lost.to_string().into()];
    }
    if let Some(connect) = &cell.connect {
        return [p99(&connect.exchanges).map_or_else(dash, Text::from), connect.failed.to_string().into()];
    }
    let retransmits =
        cell.stream.as_ref().and_then(|stream| stream.tcp).map(|tcp| tcp.retransmits.to_string());
    let went_wrong = datagrams(cell).map(phrases::lost).or(retransmits);
    let cost = cell.cpu.per_gigabyte.map_or_else(dash, |cost| significant(cost, 2).into());
    [went_wrong.map_or_else(dash, Text::from), cost]
}

/// Of an open loop from the intended times: the other one hides what a stall delayed.
fn tail(latency: &LatencySummary) -> &Distribution {
    latency.open_loop.as_ref().map_or(&latency.round_trips, |open| &open.since_intended)
}

fn datagrams(cell: &CellSummary) -> Option<&DatagramSummary> {
    cell.stream.as_ref()?.datagrams.as_ref()
}

fn p99(times: &Distribution) -> Option<String> {
    times.at(0.99).map(|time| time.to_string())
}

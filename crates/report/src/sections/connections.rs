//! Connections: rate, failures, and the duration of connecting and of the whole exchange.

use findings::{CellSummary, ConnectSummary, Findings};
use workload::Metric;

use super::{
    Source,
    latency::{percentile_pictures, shapes},
    percentiles::{self, TitledDistribution},
};
use crate::{
    labels,
    page::{Block, Section, Table, left, right, section},
    phrases,
    text::Text,
};

type Row<'a> = (&'a CellSummary, &'a ConnectSummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let cells: Vec<Row<'_>> =
        findings.cells.iter().filter_map(|cell| Some((cell, ConnectSummary::of(cell)?))).collect();
    if cells.is_empty() {
        return None;
    }
    let named: Vec<TitledDistribution<'_>> = cells
        .iter()
        .flat_map(|(cell, connect)| distributions(&labels::cell(findings, cell), connect))
        .collect();
    let mut blocks = vec![Block::Table(rates(findings, &cells)), Block::Heading("Percentiles".into())];
    let connects = |cell: &CellSummary| ConnectSummary::of(cell).is_some();
    blocks.extend(percentile_pictures(source, connects));
    blocks.extend(percentiles::tables(&named));
    blocks.extend(shapes(source, connects));
    Some(section("Connections", blocks))
}

/// Connect and whole exchange.
pub(crate) fn distributions<'a>(label: &str, connect: &'a ConnectSummary) -> [TitledDistribution<'a>; 2] {
    [(format!("{label}, connect"), &connect.connects), (format!("{label}, exchange"), &connect.exchanges)]
}

fn rates(findings: &Findings, cells: &[Row<'_>]) -> Table {
    let mut columns = vec![left("Result")];
    columns.extend(["Connections per second", "Total", "Failed", "Of baseline"].map(right));
    let row = |(cell, connect): &Row<'_>| -> Vec<Text> {
        vec![
            labels::cell(findings, cell).into(),
            phrases::estimate(Metric::ConnectionRate, &cell.value).into(),
            connect.exchanges.count.to_string().into(),
            connect.failed.to_string().into(),
            phrases::of_baseline(findings, cell),
        ]
    };
    let caption = "An exchange is a whole connection: connect, request, response and close.";
    Table { columns, rows: cells.iter().map(row).collect(), caption: Some(caption.into()) }
}

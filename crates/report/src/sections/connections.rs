//! Connection rates and failures, and the durations of connecting and of the whole exchange.

use findings::{ConnectSummary, ResultSummary};
use workload::Metric;

use super::{
    Source,
    latency::{percentile_pictures, shapes},
    percentiles::{self, TitledDistribution},
};
use crate::{page::*, phrases};

type Row<'a> = (&'a ResultSummary, &'a ConnectSummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let results: Vec<Row<'_>> =
        findings.results.iter().filter_map(|result| Some((result, ConnectSummary::of(result)?))).collect();
    if results.is_empty() {
        return None;
    }
    let named: Vec<TitledDistribution<'_>> =
        results.iter().flat_map(|(result, connect)| distributions(&result.label, connect)).collect();
    let mut blocks = vec![Block::Table(rates(&results)), Block::Heading("Percentiles".into())];
    let connects = |result: &ResultSummary| ConnectSummary::of(result).is_some();
    blocks.extend(percentile_pictures(source, connects));
    blocks.extend(percentiles::tables(&named));
    blocks.extend(shapes(source, connects));
    Some(section("Connections", blocks))
}

pub(crate) fn distributions<'a>(label: &str, connect: &'a ConnectSummary) -> [TitledDistribution<'a>; 2] {
    [(format!("{label}, connect"), &connect.connects), (format!("{label}, exchange"), &connect.exchanges)]
}

fn rates(results: &[Row<'_>]) -> Table {
    let mut columns = vec![left("Result")];
    columns.extend(["Connections per second", "Total", "Failed", "Of baseline"].map(right));
    let row = |(result, connect): &Row<'_>| -> Vec<Text> {
        vec![
            result.label.as_str().into(),
            phrases::estimate(Metric::ConnectionRate, &result.value).into(),
            connect.exchanges.count.to_string().into(),
            connect.failed.to_string().into(),
            phrases::of_baseline(result),
        ]
    };
    let caption = "An exchange is a whole connection: connect, request, response and close.";
    Table { columns, rows: results.iter().map(row).collect(), caption: Some(caption.into()) }
}

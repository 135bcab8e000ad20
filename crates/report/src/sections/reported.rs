//! Columns reported by other tools, by result.

use findings::ResultSummary;
use workload::{Metric, Quantity, ReportedValue};

use super::{Source, headline};
use crate::{labels, page::*, phrases, quantity::Scale};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let results: Vec<&ResultSummary> = findings.results.iter().filter(|result| says_more(result)).collect();
    let tables = labels::workloads(findings).into_iter().flat_map(|workload| {
        let results: Vec<&ResultSummary> =
            results.iter().filter(|result| result.workload == workload).copied().collect();
        let heading = Block::Heading(Text::strong(workload));
        if results.is_empty() { Vec::new() } else { vec![heading, Block::Table(table(&results))] }
    });
    (!results.is_empty()).then(|| section("As reported", tables.collect()))
}

/// Returns whether there are columns other than the judged one, or the judged value has more digits than the rounded
/// result.
fn says_more(result: &ResultSummary) -> bool {
    let judged = headline::column(result);
    let is_rounded = |value: &ReportedValue| shown(value) != phrases::value(result.metric, value.value);
    result.reported.iter().any(|value| Some(value.name.as_str()) != judged || is_rounded(value))
}

fn table(results: &[&ResultSummary]) -> Table {
    let factors = labels::factors(results.iter().map(|result| &result.levels));
    let names =
        labels::distinct(results.iter().flat_map(|result| &result.reported).map(|value| value.name.as_str()));
    let placed = labels::are_placed(results.iter().map(|result| result.path.as_str()));
    let mut columns: Vec<Column> = placed.then(|| left("Path")).into_iter().collect();
    columns.extend(factors.iter().map(|factor| left(*factor)));
    columns.extend(names.iter().map(|name| right(*name)));
    let dash = || Text::faint("-");
    let row = |result: &&ResultSummary| {
        let level =
            |factor: &&str| result.levels.get(*factor).map_or_else(dash, |level| level.as_str().into());
        let column = |name: &&str| {
            let value = result.reported.iter().find(|value| value.name == **name);
            value.map_or_else(dash, |value| shown(value).into())
        };
        let head = placed.then(|| Text::strong(softened(&result.path)));
        head.into_iter().chain(factors.iter().map(level)).chain(names.iter().map(column)).collect()
    };
    Table { columns, rows: results.iter().map(row).collect(), caption: None }
}

/// Keeps all of the log's digits.
fn shown(reported: &ReportedValue) -> String {
    let value = reported.value;
    let in_unit = |metric| glued(&Scale::of(metric, value).quoting(value).quantity(value));
    match reported.quantity {
        Quantity::BitRate => in_unit(Metric::Throughput),
        Quantity::Time => in_unit(Metric::Latency),
        Quantity::PerSecond => in_unit(Metric::MessageRate),
        Quantity::Share => glued(&Scale::percent(value).quoting(value).quantity(value)),
        Quantity::ByteRate => glued(&format!("{}/s", Scale::of_bytes(value).quantity(value))),
        Quantity::Size => glued(&Scale::of_bytes(value).quantity(value)),
        Quantity::Count if value >= 0.0 && value.fract() == 0.0 => phrases::grouped(value as u64),
        Quantity::Count => format!("{value}"),
        Quantity::Plain => Scale::plain(value).quoting(value).number(value),
    }
}

//! Shows one bar for each result of a workload, with its interval and one dot per trial.

use findings::{Findings, ResultSummary};

use super::columns::{CELL, MARK, bases, ends, interval_key, of_result, values};
use crate::{chart::*, labels, page::*, phrases, sections::Source};

pub(super) const KIND: &str = "results";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    labels::workloads(source.findings)
        .into_iter()
        .filter_map(|workload| chart(source.findings, workload))
        .collect()
}

pub(crate) fn chart(findings: &Findings, workload: &str) -> Option<Chart> {
    let results: Vec<&ResultSummary> =
        findings.results.iter().filter(|result| result.workload == workload).collect();
    let metric = results.first().map(|result| result.metric)?;
    if results.len() < 2 || results.iter().any(|result| result.metric != metric) {
        return None;
    }
    let rows: Vec<Row> = results.iter().map(|result| row(result)).collect();
    let scale = Scale::from_zero(rows.iter().flat_map(Row::reach));
    let largest = rows.iter().flat_map(Row::reach).filter(|it| it.is_finite()).fold(0.0, f64::max);
    let mut data = Data::new(CELL.into_iter().chain(["values"]));
    results.iter().for_each(|result| data.push(of_result(result).into_iter().chain([values(result)])));
    let mut phrase = rows.iter().map(|row| format!("{}: {}", row.label, row.text.characters()));
    let has_dots = rows.iter().any(|row| !row.points.is_empty());
    let keys = [
        interval_key("value", MARK, bases(results.iter().copied())),
        has_dots.then(|| Key::Dot("a trial".to_owned())),
    ];
    Some(Chart {
        kind: KIND,
        title: format!("{workload}: {}", metric.measured_in()),
        about: phrase.join("; "),
        drawing: Drawing::Rows(Rows {
            axis: Axis::of_metric(metric, scale, largest),
            keys: keys.into_iter().flatten().collect(),
            rows,
            reference: None,
        }),
        data,
        plain: None,
    })
}

fn row(result: &ResultSummary) -> Row {
    let value = result.value.estimate;
    let mark = result.value.interval.map_or("", |_| phrases::mark(result.value.basis));
    let text = Text::plain(phrases::value(result.metric, value) + mark);
    Row {
        label: labels::result_in_workload(result),
        pieces: vec![Piece { from: 0.0, to: value, paint: Paint::Value, is_unclear: false }],
        interval: ends(result.value.interval),
        middle: result.value.interval.map(|_| value),
        points: result.values.clone(),
        text,
        ..Row::default()
    }
}

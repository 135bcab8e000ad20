//! A bar per result of a workload, with its interval and a dot per trial.

use findings::{CellSummary, Findings};

use super::columns::{CELL, ends, of_cell, values};
use crate::{
    chart::{Axis, Chart, Data, Drawing, Key, Paint, Piece, Row, Rows, Scale},
    labels, phrases,
    sections::Source,
    text::{Text, Tone},
};

pub(super) const KIND: &str = "results";

pub(super) fn build(source: &Source<'_>) -> Vec<Chart> {
    labels::workloads(source.findings)
        .into_iter()
        .filter_map(|workload| chart(source.findings, workload))
        .collect()
}

/// `None` of a single result.
pub(crate) fn chart(findings: &Findings, workload: &str) -> Option<Chart> {
    let cells: Vec<&CellSummary> = findings.cells.iter().filter(|cell| cell.workload == workload).collect();
    let metric = cells.first().map(|cell| cell.metric)?;
    if cells.len() < 2 || cells.iter().any(|cell| cell.metric != metric) {
        return None;
    }
    let rows: Vec<Row> = cells.iter().map(|cell| row(cell)).collect();
    let scale = Scale::from_zero(rows.iter().flat_map(Row::reach));
    let largest = rows.iter().flat_map(Row::reach).filter(|it| it.is_finite()).fold(0.0, f64::max);
    let mut data = Data::new(CELL.into_iter().chain(["values"]));
    cells.iter().for_each(|cell| data.push(of_cell(cell).into_iter().chain([values(cell)])));
    let phrase = rows.iter().map(|row| format!("{}: {}", row.label, row.text.characters()));
    let has = |is: &dyn Fn(&Row) -> bool, key: Key| rows.iter().any(is).then_some(key);
    let keys = [
        has(&|row| row.interval.is_some(), Key::Interval("median and interval".to_owned())),
        has(&|row| !row.points.is_empty(), Key::Dot("a trial".to_owned())),
    ];
    Some(Chart {
        kind: KIND,
        title: format!("{workload}: {}", metric.measured_in()),
        about: phrase.collect::<Vec<_>>().join("; "),
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

fn row(cell: &CellSummary) -> Row {
    let value = cell.value.median;
    let several = cell.values.len() > 1;
    let text = Text::of(Tone::Plain, phrases::value(cell.metric, value));
    Row {
        label: labels::cell_in_workload(cell),
        pieces: vec![Piece { from: 0.0, to: value, paint: Paint::Value, is_unclear: false }],
        interval: ends(cell.value.interval),
        middle: cell.value.interval.map(|_| value),
        points: if several { cell.values.clone() } else { Vec::new() },
        text,
        ..Row::default()
    }
}

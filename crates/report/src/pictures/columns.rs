//! Table columns shared by several kinds of pictures, named as in the CSV report.

use findings::{CellSummary, Interval};
use workload::Metric;

use crate::{
    backends::{csv_unit, csv_word},
    chart::Field,
};

/// Common columns of results.
pub(super) const CELL: [&str; 9] =
    ["cell", "path", "workload", "metric", "unit", "median", "low", "high", "confidence"];

pub(super) fn of_cell(cell: &CellSummary) -> [Field; 9] {
    let interval = cell.value.interval;
    [
        Some(cell.id.clone()),
        Some(cell.path.clone()),
        Some(cell.workload.clone()),
        Some(csv_word(cell.metric)),
        Some(csv_unit(cell.metric).to_owned()),
        number(Some(cell.value.median)),
        number(interval.map(|it| it.low)),
        number(interval.map(|it| it.high)),
        number(interval.map(|it| it.confidence)),
    ]
}

pub(super) fn number(value: Option<f64>) -> Field {
    value.map(|value| value.to_string())
}

/// Every trial's value, in the order of blocks.
pub(super) fn values(cell: &CellSummary) -> Field {
    Some(cell.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

pub(super) fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    interval.map(|interval| (interval.low, interval.high))
}

/// Whether a change is for the worse; false for metrics without a better direction.
pub(super) fn is_worse(metric: Metric, difference: f64) -> bool {
    metric.more_is_better().is_some_and(|more| (difference < 0.0) == more)
}

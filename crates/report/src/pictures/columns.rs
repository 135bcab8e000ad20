//! Table columns shared by several kinds of charts, named as in the CSV report.

use findings::{Interval, ResultSummary};
use workload::Metric;

use crate::{
    backends::{csv_unit, csv_word},
    chart::Field,
};

pub(super) const CELL: [&str; 9] =
    ["result", "path", "workload", "metric", "unit", "value", "low", "high", "confidence"];

pub(super) fn of_result(result: &ResultSummary) -> [Field; 9] {
    let interval = result.value.interval;
    [
        Some(result.id.clone()),
        Some(result.path.clone()),
        Some(result.workload.clone()),
        Some(csv_word(result.metric)),
        Some(csv_unit(result.metric).to_owned()),
        number(Some(result.value.estimate)),
        number(interval.map(|it| it.low)),
        number(interval.map(|it| it.high)),
        number(interval.map(|it| it.confidence)),
    ]
}

pub(super) fn number(value: Option<f64>) -> Field {
    value.map(|value| value.to_string())
}

pub(super) fn values(result: &ResultSummary) -> Field {
    Some(result.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

pub(super) fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    interval.map(|interval| (interval.low, interval.high))
}

pub(super) fn is_worse(metric: Metric, difference: f64) -> bool {
    metric.more_is_better().is_some_and(|more| (difference < 0.0) == more)
}

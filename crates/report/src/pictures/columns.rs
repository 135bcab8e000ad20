//! Table columns shared by several kinds of charts, named as in the CSV report.

use findings::{Basis, Interval, ResultSummary};
use workload::Metric;

use crate::{
    backends::{csv_basis, csv_unit, csv_word},
    chart::{Field, Key},
};

pub(super) const CELL: [&str; 10] =
    ["result", "path", "workload", "metric", "unit", "value", "low", "high", "confidence", "interval_basis"];

pub(super) fn of_result(result: &ResultSummary) -> [Field; 10] {
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
        interval.map(|_| csv_basis(result.value.basis).to_owned()),
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

/// Precedes the explanation of the mark in [`interval_key`], in pictures with marked values.
pub(super) const MARK: &str = "*: ";

/// Explains the intervals of `quantity`, e.g. "value", given the data that each is based on.
pub(super) fn interval_key(
    quantity: &str,
    mark: &str,
    bases: impl IntoIterator<Item = Basis>,
) -> Option<Key> {
    let mut bases = bases.into_iter().peekable();
    bases.peek()?;
    let within = bases.any(|basis| basis == Basis::Intervals);
    let basis = if within { format!(" ({mark}within one trial)") } else { String::new() };
    Some(Key::Interval(format!("{quantity} and interval{basis}")))
}

/// The data that each interval is based on. Skips results without an interval.
pub(super) fn bases<'a>(results: impl IntoIterator<Item = &'a ResultSummary>) -> impl Iterator<Item = Basis> {
    results.into_iter().filter(|result| result.value.interval.is_some()).map(|result| result.value.basis)
}

pub(super) fn is_worse(metric: Metric, difference: f64) -> bool {
    metric.more_is_better().is_some_and(|more| (difference < 0.0) == more)
}

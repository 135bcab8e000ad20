//! The title of the value column. It depends on which end counted the bytes.

use findings::ResultSummary;
use workload::{Metric, ReportedData};

use crate::kind;

pub(super) fn title(results: &[&ResultSummary]) -> String {
    let columns: Vec<Option<&str>> = results.iter().map(|result| column(result)).collect();
    if let Some(Some(name)) = columns.first()
        && columns.iter().all(|other| other.is_some_and(|other| other == *name))
    {
        return capital(name);
    }
    let of_streams = results.iter().all(|result| kind::is_of_sender(result));
    match results.first().map(|result| result.metric) {
        Some(_) if of_streams => "Sent",
        // Another tool's table does not show which end counted the bytes.
        Some(Metric::Throughput) if columns.iter().any(Option::is_some) => "Throughput",
        Some(metric) => metric.title(),
        None => Metric::Throughput.title(),
    }
    .to_owned()
}

pub(super) fn column(result: &ResultSummary) -> Option<&str> {
    let (metric, column) = ReportedData::judged(&result.reported)?;
    (metric == result.metric).then_some(column.name.as_str())
}

/// Capitalizes plain words. Does not change names such as `p99`.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if name.chars().all(|letter| letter.is_alphabetic() || letter == ' ') => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => name.to_owned(),
    }
}

//! What the column of a workload's values is called: by who counted them. Must not know the values.

use findings::CellSummary;
use workload::{Metric, Quantity};

/// The title of the values of these cells, which are measured in one metric.
pub(super) fn title(cells: &[&CellSummary]) -> String {
    let columns: Vec<Option<&str>> = cells.iter().map(|cell| column(cell)).collect();
    if let Some(Some(name)) = columns.first()
        && columns.iter().all(|other| other.is_some_and(|other| other == *name))
    {
        return capital(name);
    }
    let of_streams = cells.iter().all(|cell| is_of_sender(cell));
    match cells.first().map(|cell| cell.metric) {
        Some(Metric::Throughput) if of_streams => "Sent",
        Some(Metric::Throughput) if columns.iter().any(Option::is_some) => "Throughput",
        Some(Metric::Throughput) | None => "Received",
        Some(Metric::RoundTrip) => "Median round trip",
        Some(Metric::ConnectionRate) => "Connections",
        Some(Metric::Latency) => "Reported latency",
        Some(Metric::MessageRate) => "Messages",
        Some(Metric::Count) => "Reported count",
    }
    .to_owned()
}

/// Whether a stream's value is what its sender took, because nobody told what the receiver got.
pub(crate) fn is_of_sender(cell: &CellSummary) -> bool {
    cell.stream
        .as_ref()
        .is_some_and(|stream| stream.sent.is_some() && stream.forward.is_none() && stream.reverse.is_none())
}

/// The column of another tool's table that the cell is judged by.
pub(super) fn column(cell: &CellSummary) -> Option<&str> {
    let judged = |quantity: Quantity| match quantity {
        Quantity::BitRate => cell.metric == Metric::Throughput,
        Quantity::Time => cell.metric == Metric::Latency,
        Quantity::PerSecond => cell.metric == Metric::MessageRate,
        Quantity::Count | Quantity::Plain | Quantity::Share | Quantity::Size => cell.metric == Metric::Count,
    };
    cell.reported.iter().find(|value| judged(value.quantity)).map(|value| value.name.as_str())
}

/// A plain word begins as a title does; `p99` stays as it is.
fn capital(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if name.chars().all(|letter| letter.is_alphabetic() || letter == ' ') => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => name.to_owned(),
    }
}

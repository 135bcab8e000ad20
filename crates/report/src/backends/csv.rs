//! Rows for a spreadsheet or a data frame: one for each cell, or one for each trial (RFC 4180).
//! Column names are stable and carry their unit; the factors' columns come last, as `factor.NAME`, and behind them what
//! other tools reported, as `reported.NAME` in base units, and CPUs by owner, as `owner.NAME`.
//! Must not know the page.

mod cell_columns;
mod cells;
mod contrast;
mod trials;

pub(crate) use cells::cells;
pub(crate) use contrast::contrast;
pub(crate) use trials::trials;

use findings::{Basis, Interval};
use workload::Metric;

/// A line of fields.
fn line(fields: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<String> = fields.into_iter().map(|field| quoted(&field)).collect();
    quoted.join(",") + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// The ends of an interval and its confidence.
fn ends(interval: Option<Interval>) -> [String; 3] {
    let end = |of: fn(Interval) -> f64| optional(interval.map(of));
    [end(|interval| interval.low), end(|interval| interval.high), end(|interval| interval.confidence)]
}

/// A metric's name and the unit of its numbers.
const fn metric(metric: Metric) -> (&'static str, &'static str) {
    match metric {
        Metric::Throughput => ("throughput", "bit/s"),
        Metric::RoundTrip => ("round-trip", "ns"),
        Metric::ConnectionRate => ("connection-rate", "1/s"),
        Metric::Latency => ("latency", "ns"),
        Metric::MessageRate => ("message-rate", "1/s"),
        Metric::Count => ("count", ""),
    }
}

/// What an interval was computed from.
const fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Trials => "trials",
        Basis::Intervals => "intervals",
    }
}

/// Nothing for what is not known: never a zero.
fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_hold_separators_are_quoted() {
        let fields = ["plain", "a,b", "say \"x\"", "two\nlines", ""].map(str::to_owned);
        assert_eq!(line(fields), "plain,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\r\n");
    }
}

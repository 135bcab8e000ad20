//! Numbers without samples, e.g. from a table row or a tool's summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    guarded::{GuardedMetric, GuardedSample},
    kind::{KindMeasurement, Measurement},
    metric::{Metric, Quantity},
    work::Work,
};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedData {
    /// One value per column, in the report's order.
    pub values: Vec<ReportedValue>,
}

impl ReportedData {
    #[must_use]
    pub fn first(&self, quantity: Quantity) -> Option<&ReportedValue> {
        self.values.iter().find(|value| value.quantity == quantity)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedValue {
    /// Column name without the unit, e.g. `Server VM CPU` or `p99`.
    pub name: String,
    pub quantity: Quantity,
    /// The value in the base unit of its quantity. Always finite.
    pub value: f64,
}

impl ReportedValue {
    /// The percentile stated in the name of a time, from 0 to 100. `None` for other values.
    #[must_use]
    pub fn percentile(&self) -> Option<f64> {
        if self.quantity == Quantity::Time { percentile(&self.name) } else { None }
    }
}

impl ReportedData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::Reported(data) = measurement { Some(data) } else { None }
    }

    /// Selects the value used for the result: the first rate, else the first time, else the first number.
    #[must_use]
    pub fn judged(values: &[ReportedValue]) -> Option<(Metric, &ReportedValue)> {
        let by = [
            (Quantity::BitRate, Metric::Throughput),
            (Quantity::Time, Metric::Latency),
            (Quantity::PerSecond, Metric::MessageRate),
            (Quantity::Count, Metric::Count),
            (Quantity::Plain, Metric::Count),
            (Quantity::Share, Metric::Count),
            (Quantity::Size, Metric::Count),
            (Quantity::ByteRate, Metric::Count),
        ];
        let first = |quantity: Quantity| values.iter().find(|value| value.quantity == quantity);
        by.into_iter().find_map(|(quantity, metric)| Some((metric, first(quantity)?)))
    }
}

impl KindMeasurement for ReportedData {
    fn metric(&self) -> Metric {
        Self::judged(&self.values).map_or(Metric::Count, |(metric, _)| metric)
    }

    fn value(&self) -> Option<f64> {
        Self::judged(&self.values).map(|(_, column)| column.value)
    }

    fn work(&self) -> Option<(Work, f64)> {
        None
    }

    fn lasted(&self, _: Nanos) -> Option<Nanos> {
        None
    }

    fn is_void(&self) -> bool {
        self.values.is_empty()
    }

    fn guarded(&self) -> Vec<(GuardedMetric, GuardedSample<'_>)> {
        let is_p99 = |value: &&ReportedValue| value.percentile().is_some_and(|at| (at - 99.0).abs() < 1e-6);
        let tail = self.values.iter().find(is_p99).filter(|value| value.value > 0.0);
        tail.map(|value| (GuardedMetric::P99, GuardedSample::Time(value.value))).into_iter().collect()
    }

    fn why_no_value(&self) -> &'static str {
        "the log contains no usable number"
    }

    fn in_a_word(&self) -> String {
        "reported elsewhere".to_owned()
    }
}

/// Percentile in a column name such as `p99.9`, `99.9th`, `50th (Median)` or `percentile 99.900`.
fn percentile(name: &str) -> Option<f64> {
    let name = name.to_lowercase();
    if name.contains("median") || name.trim() == "p50" {
        return Some(50.0);
    }
    let start = name.find(|letter: char| letter.is_ascii_digit())?;
    let number: String =
        name[start..].chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    let rest = name[start + number.len()..].trim_start();
    let is_one = name[..start].ends_with('p')
        || name.contains("percentile")
        || ["th", "%", "st ", "nd ", "rd "].iter().any(|word| rest.starts_with(word));
    match number.trim_end_matches('.') {
        _ if !is_one => None,
        // Some tools write `p999`.
        number if number.starts_with("99") && !number.contains('.') && number.len() > 2 => {
            format!("99.{}", &number[2..]).parse().ok()
        }
        number => number.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_percentile_names_of_other_tools() {
        for (name, at) in [
            ("p99.9", Some(99.9)),
            ("p999", Some(99.9)),
            ("99.9th", Some(99.9)),
            ("percentile 99.900", Some(99.9)),
            ("50th (Median)", Some(50.0)),
            ("p50", Some(50.0)),
            ("99th", Some(99.0)),
            ("Max", None),
            ("10 streams", None),
        ] {
            assert_eq!(percentile(name), at, "{name}");
        }
    }
}

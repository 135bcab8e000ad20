//! Numbers reported without samples, e.g. in a table row or a tool's summary.

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
    /// The values by column, in the order of the report.
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

impl ReportedData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::Reported(data) = measurement { Some(data) } else { None }
    }

    /// Selects the value used for the result: the first rate if there is one, else the first time, else the first
    /// number.
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
        let is_p99 = |value: &&ReportedValue| {
            value.quantity == Quantity::Time && value.name.eq_ignore_ascii_case("p99")
        };
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

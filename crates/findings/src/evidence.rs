//! Evidence for findings: numbers with units and intervals, and their formatting.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use units::{BitRate, Bytes, Confidence, Nanos, Share, significant};
use workload::{Metric, Quantity};

use crate::{
    estimate::{Comparison, Interval, change},
    phrase::{Part, PartKind, Phrase},
};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What was observed, e.g. `vxlan-offload=off vs on`.
    pub label: String,
    /// The text with unit and interval: `0.31x (0.28 to 0.35, 95 %)`.
    pub value: String,
    /// The numbers in `value`, in order. Empty if it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Number>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Number {
    pub value: f64,
    pub unit: Unit,
    /// Interval in the same unit. `None` if unknown, or if the number is a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Ratio. 0.9 means 10 % less.
    Ratio,
    /// Fraction, from 0 to 1.
    Share,
    BitsPerSecond,
    BytesPerSecond,
    Nanoseconds,
    PerSecond,
    Bytes,
    /// Average number of busy CPUs.
    Cpus,
    /// Count, or a number without a unit.
    Count,
}

impl Evidence {
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), value: String::new(), numbers: Vec::new() }
    }

    #[must_use]
    pub fn text(mut self, words: impl fmt::Display) -> Self {
        self.value.push_str(&words.to_string());
        self
    }

    #[must_use]
    pub fn ratio(self, comparison: &Comparison) -> Self {
        self.written(comparison)
    }

    #[must_use]
    pub fn metric(self, metric: Metric, value: f64) -> Self {
        self.written(Phrase::metric(metric, value))
    }

    #[must_use]
    pub fn number(self, number: Number) -> Self {
        self.written(number)
    }

    #[must_use]
    pub fn share(self, share: f64) -> Self {
        self.number(Number::new(share, Unit::Share))
    }

    #[must_use]
    pub fn time(self, time: Nanos) -> Self {
        self.written(time)
    }

    #[must_use]
    pub fn size(self, size: Bytes) -> Self {
        self.number(Number::new(size.0 as f64, Unit::Bytes))
    }

    #[must_use]
    pub fn count(self, count: u64) -> Self {
        self.written(Phrase::quantity(count.to_string(), count as f64, Unit::Count))
    }

    /// Rounds to three significant digits. The surrounding text contains the unit.
    #[must_use]
    pub fn rounded(self, value: f64, unit: Unit) -> Self {
        self.written(Phrase::quantity(significant(value, 3), value, unit))
    }

    fn written(mut self, phrase: impl Into<Phrase>) -> Self {
        for Part { text, kind } in phrase.into().parts() {
            self.value.push_str(text);
            self.numbers.extend(match kind {
                PartKind::Quantity(number) => Some(*number),
                PartKind::Text | PartKind::Result { .. } | PartKind::Device => None,
            });
        }
        self
    }
}

impl Number {
    #[must_use]
    pub const fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit, interval: None }
    }
}

impl From<Quantity> for Unit {
    fn from(quantity: Quantity) -> Self {
        match quantity {
            Quantity::BitRate => Self::BitsPerSecond,
            Quantity::ByteRate => Self::BytesPerSecond,
            Quantity::Time => Self::Nanoseconds,
            Quantity::PerSecond => Self::PerSecond,
            Quantity::Share => Self::Share,
            Quantity::Size => Self::Bytes,
            Quantity::Count | Quantity::Plain => Self::Count,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: f64| match self.unit {
            Unit::Ratio => change(value),
            Unit::Share => Share(value).to_string(),
            Unit::BitsPerSecond => BitRate(value).to_string(),
            Unit::BytesPerSecond => format!("{}/s", Bytes(value.max(0.0).round() as u64)),
            Unit::Nanoseconds => Nanos(value.max(0.0).round() as u64).to_string(),
            Unit::PerSecond => format!("{}/s", significant(value, 3)),
            Unit::Bytes => Bytes(value.max(0.0).round() as u64).to_string(),
            Unit::Cpus => format!("{} CPUs", significant(value, 3)),
            Unit::Count => significant(value, 3),
        };
        write!(f, "{}", show(self.value))?;
        self.interval.map_or(Ok(()), |Interval { low, high, confidence }| {
            write!(f, " ({} to {}, {})", show(low), show(high), Confidence(confidence))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_numbers_agree() {
        let interval = Some(Interval { low: 0.01, high: 0.03, confidence: 0.9375 });
        let evidence = Evidence::new("datagrams lost")
            .count(12)
            .text(" of ")
            .count(600)
            .text(", ")
            .number(Number { interval, ..Number::new(0.02, Unit::Share) });
        assert_eq!(evidence.value, "12 of 600, 2.00 % (1.00 % to 3.00 %, 94 %)");
        assert_eq!(
            evidence.numbers.iter().map(|number| number.value).collect::<Vec<_>>(),
            [12.0, 600.0, 0.02]
        );
    }
}

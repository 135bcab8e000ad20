//! A number with its unit and interval.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use units::{BitRate, Bytes, Confidence, Nanos, Share, significant};
use workload::Quantity;

use crate::estimate::{Interval, change};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Number {
    pub value: f64,
    pub unit: Unit,
    /// Confidence interval, in the same unit. `None` if it is unknown, or if the number is a count.
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

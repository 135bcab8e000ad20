//! Numbers that somebody has reported without the samples behind them: a table's row, a tool's summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One row of reported numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedData {
    /// By column, in the order of the report.
    pub values: Vec<ReportedValue>,
}

impl ReportedData {
    /// The first value of a quantity.
    #[must_use]
    pub fn first(&self, quantity: Quantity) -> Option<&ReportedValue> {
        self.values.iter().find(|value| value.quantity == quantity)
    }
}

/// A reported number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedValue {
    /// Its column, without the unit: `Server VM CPU`, `p99`.
    pub name: String,
    /// What it is.
    pub quantity: Quantity,
    /// In the base unit of its quantity; finite.
    pub value: f64,
}

/// What a reported number is, and so the unit that it is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Bits per second.
    BitRate,
    /// A time that messages took, in nanoseconds; a whole round trip only where `name` says so.
    Time,
    /// Messages, transactions or connections per second.
    PerSecond,
    /// A share, 0 to 1: of a machine's CPUs, or of anything that `name` says.
    Share,
    /// A count: retransmits, system calls.
    Count,
    /// Bytes.
    Size,
    /// A number without a unit.
    Plain,
}

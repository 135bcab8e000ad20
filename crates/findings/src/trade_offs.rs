//! Configurations side by side, and whether they meet the requirements.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos};

use crate::{claim::Statement, requirement::Requirement};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TradeOffs {
    pub requirements: Vec<Requirement>,
    /// If requirements were given, the configurations that meet them come first, starting with the cheapest.
    pub configurations: Vec<Configuration>,
}

/// A path at one setting of the factors.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Configuration {
    pub path: String,
    pub levels: BTreeMap<String, String>,
    /// Identifiers of the configuration's results.
    pub results: Vec<String>,
    /// CPU-seconds per GB of the most expensive result.
    pub cpu_per_gb: Option<f64>,
    /// Time from the start of a virtual machine until its agent responds, for the slower end.
    pub boot: Option<Nanos>,
    /// Resident size of both ends' virtual machines at the start of the run.
    pub memory: Option<Bytes>,
    /// Whether the times look like half round trips.
    pub half_round_trips: bool,
    /// Whether the configuration meets all requirements.
    pub compliance: Compliance,
    pub judgements: Vec<Judgement>,
}

/// Ordered from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compliance {
    Met,
    Unclear,
    /// Not measured.
    Unknown,
    Missed,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Judgement {
    pub compliance: Compliance,
    /// The deciding value, in base units. `None` if not measured.
    pub value: Option<f64>,
    /// Why compliance is unclear.
    pub reason: Option<UnclearReason>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum UnclearReason {
    /// The interval includes the bound.
    Interval,
    /// There are too few messages for an interval of the percentile.
    FewMessages,
    Unreliable(Statement),
}

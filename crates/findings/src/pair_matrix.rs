//! What hosts measured against each other, each with each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// The pairs of one workload at one setting of the factors.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairMatrix {
    pub workload: String,
    /// What it is measured in.
    pub metric: Metric,
    /// The setting of the factors.
    pub levels: BTreeMap<String, String>,
    /// In the order of the scenario.
    pub hosts: Vec<String>,
    /// Those that were measured, in the order of the scenario.
    pub pairs: Vec<HostPair>,
    /// What measuring several pairs at the same time changed; `None` where none was, or none was measured alone, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contamination: Option<Contamination>,
}

/// Pairs that were measured beside others, against the same ones alone in the same blocks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contamination {
    /// Beside others over alone.
    pub change: Comparison,
    /// How many pairs of trials it comes from.
    pub trials: u32,
    /// The most pairs of hosts that were measured at the same time.
    pub at_once: u32,
}

/// One way between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HostPair {
    /// The client's host.
    pub from: String,
    /// The server's host.
    pub to: String,
    pub cell: String,
    /// The median of its trials.
    pub value: f64,
}

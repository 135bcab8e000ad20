//! What hosts measured against each other, each with each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::Metric;

/// The pairs of one workload at one setting of the factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// One way between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostPair {
    /// The client's host.
    pub from: String,
    /// The server's host.
    pub to: String,
    pub cell: String,
    /// The median of its trials.
    pub value: f64,
}

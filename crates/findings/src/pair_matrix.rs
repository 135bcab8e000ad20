//! Measurements between all pairs of hosts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairMatrix {
    pub workload: String,
    pub metric: Metric,
    pub levels: BTreeMap<String, String>,
    /// The hosts, in scenario order.
    pub hosts: Vec<String>,
    /// Measured pairs, in scenario order.
    pub pairs: Vec<HostPair>,
    /// Effect of measuring several pairs simultaneously. `None` unless the same pairs were also measured separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contamination: Option<Contamination>,
}

/// Pairs measured simultaneously, compared with the same pairs measured separately in the same blocks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contamination {
    /// The simultaneous measurement relative to the separate one.
    pub change: Comparison,
    pub trials: u32,
    /// Maximum number of simultaneous pairs.
    pub at_once: u32,
}

/// One direction between two hosts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HostPair {
    /// Client host.
    pub from: String,
    /// Server host.
    pub to: String,
    pub result: String,
    /// Median over the trials.
    pub value: f64,
}

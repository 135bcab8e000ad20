//! Measurements between all pairs of hosts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// The pairs for one workload and setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairMatrix {
    pub workload: String,
    pub metric: Metric,
    /// Factor levels.
    pub levels: BTreeMap<String, String>,
    /// In scenario order.
    pub hosts: Vec<String>,
    /// Measured pairs, in scenario order.
    pub pairs: Vec<HostPair>,
    /// Effect of measuring several pairs at once; `None` unless pairs were measured both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contamination: Option<Contamination>,
}

/// Pairs measured at the same time relative to the same pairs alone, in the same blocks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contamination {
    /// Together relative to alone.
    pub change: Comparison,
    /// Number of pairs of trials.
    pub trials: u32,
    /// Maximum number of host pairs measured at the same time.
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
    /// Median of its trials.
    pub value: f64,
}

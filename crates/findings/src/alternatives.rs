//! Cells that are alternatives to each other: which is best, and what one thing brings that half of them have.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// Paths of which none adds layers to another, from the best to the worst.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    pub workload: String,
    /// What it is measured in.
    pub metric: Metric,
    /// The setting of the factors that all of them share.
    pub levels: BTreeMap<String, String>,
    /// The best first.
    pub ranks: Vec<Rank>,
}

/// The place of one path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rank {
    /// From 1; paths that the numbers do not tell apart share one.
    pub place: u32,
    pub cell: String,
    pub path: String,
    /// Its median, in the metric's unit.
    pub value: f64,
    /// Against the best; `None` for the best itself, and where they cannot be compared.
    pub against_best: Option<Comparison>,
}

/// What one word in their names brings: cells that differ in it alone, in pairs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchedPairs {
    /// The word: `vhost`.
    pub word: String,
    pub workload: String,
    /// What it is measured in.
    pub metric: Metric,
    /// In the order of the scenario.
    pub pairs: Vec<MatchedPair>,
}

/// A cell with the word and the same without it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchedPair {
    /// The cell without it.
    pub without: String,
    /// The cell with it.
    pub with: String,
    /// With against without.
    pub change: Comparison,
}

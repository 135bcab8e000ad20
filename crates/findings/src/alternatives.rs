//! Rankings of alternative paths, and pairs of results with names that differ in one word.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// A ranking of alternative paths. No path contains all layers of another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    pub workload: String,
    pub metric: Metric,
    /// Factor levels that all paths share.
    pub levels: BTreeMap<String, String>,
    /// The paths, the best one first.
    pub ranks: Vec<Rank>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rank {
    /// The rank, starting at 1. Statistically tied paths share a rank.
    pub place: u32,
    pub result: String,
    pub path: String,
    /// Median, in the metric's unit.
    pub value: f64,
    /// The value relative to the best path. `None` for the best path itself, or if the two cannot be compared.
    pub against_best: Option<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchedPairs {
    /// The word that only one name of each pair contains, e.g. `vhost`.
    pub word: String,
    pub workload: String,
    pub metric: Metric,
    /// The pairs, in scenario order.
    pub pairs: Vec<MatchedPair>,
}

/// A result with the word in its name, and the matching result without the word.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchedPair {
    pub without: String,
    pub with: String,
    /// The result with the word, relative to the one without it.
    pub change: Comparison,
}

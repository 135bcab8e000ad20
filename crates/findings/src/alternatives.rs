//! Rankings of alternative paths, and matched pairs whose names differ in one word.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// Paths, none of which contains the layers of another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    pub workload: String,
    pub metric: Metric,
    /// Factor levels that all paths share.
    pub levels: BTreeMap<String, String>,
    /// Best first.
    pub ranks: Vec<Rank>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rank {
    /// Starts at 1. Statistically tied paths share a rank.
    pub place: u32,
    pub result: String,
    pub path: String,
    /// Median, in the metric's unit.
    pub value: f64,
    /// Relative to the best path. `None` for the best path and for incomparable results.
    pub against_best: Option<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchedPairs {
    /// E.g. `vhost`.
    pub word: String,
    pub workload: String,
    pub metric: Metric,
    /// In scenario order.
    pub pairs: Vec<MatchedPair>,
}

/// A result with the word and its counterpart without it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MatchedPair {
    pub without: String,
    pub with: String,
    /// The result with the word, relative to the one without it.
    pub change: Comparison,
}

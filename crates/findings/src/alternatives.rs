//! Alternative paths: their ranking, and matched pairs that differ in one word of their names.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// Paths of which none contains the layers of another, best first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    pub workload: String,
    pub metric: Metric,
    /// Levels of the factors shared by all paths.
    pub levels: BTreeMap<String, String>,
    /// Best first.
    pub ranks: Vec<Rank>,
}

/// A ranked path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rank {
    /// From 1; statistically tied paths share a place.
    pub place: u32,
    pub result: String,
    pub path: String,
    /// Median, in the metric's unit.
    pub value: f64,
    /// Relative to the best; `None` for the best itself and for incomparable results.
    pub against_best: Option<Comparison>,
}

/// Results whose names differ only in one word, in matched pairs.
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
    /// Result without the word.
    pub without: String,
    /// Result with the word.
    pub with: String,
    /// With relative to without.
    pub change: Comparison,
}

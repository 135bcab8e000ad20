//! Differences that mean something: what a layer takes, what a factor's level changes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// What each layer of nested paths takes, at one workload and one setting of the factors.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ladder {
    pub workload: String,
    /// What its paths are measured in.
    pub metric: Metric,
    /// The setting of the factors that all its paths share (each path at the factors that apply to it).
    pub levels: BTreeMap<String, String>,
    /// From the path with the fewest layers up.
    pub rungs: Vec<CostStep>,
}

/// One path of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostStep {
    pub cell: String,
    pub path: String,
    /// Its median, in the metric's unit.
    pub value: f64,
    /// The path without the added layers: the path it stands on; `None` for the lowest.
    pub below: Option<String>,
    /// The layers that it has and the one below has not.
    pub adds: Vec<String>,
    /// Against the path below: the cost of the added layers.
    pub cost: Option<Comparison>,
}

/// What a factor's level changes against its first level, all else equal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorEffect {
    pub factor: String,
    /// The level it had first: the reference.
    pub reference: String,
    /// The level compared with it.
    pub level: String,
    pub path: String,
    pub workload: String,
    /// What it is measured in.
    pub metric: Metric,
    /// Levels of the other factors, equal on both sides.
    pub others: BTreeMap<String, String>,
    /// The cell at the reference level.
    pub reference_cell: String,
    /// The cell at this level.
    pub cell: String,
    /// This level against the reference.
    pub change: Comparison,
}

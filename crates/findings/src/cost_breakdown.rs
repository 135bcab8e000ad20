//! Cost breakdown by layer, and the effects of factor levels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::estimate::Comparison;

/// Cost of each layer, for one workload and setting. Each path except the lowest adds layers to another path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostBreakdown {
    pub workload: String,
    pub metric: Metric,
    /// Levels of the factors that apply to all of these paths.
    pub levels: BTreeMap<String, String>,
    /// Paths, the one with the fewest layers first.
    pub steps: Vec<CostStep>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostStep {
    pub result: String,
    pub path: String,
    /// Median, in the metric's unit.
    pub value: f64,
    /// The path without the added layers. `None` for the lowest path.
    pub below: Option<String>,
    /// Layers added to the path below.
    pub adds: Vec<String>,
    /// Cost of the added layers, relative to the path below.
    pub cost: Option<Comparison>,
}

/// Effect of a factor level relative to the factor's first level, all else equal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorEffect {
    pub factor: String,
    /// The factor's first level.
    pub reference: String,
    pub level: String,
    pub path: String,
    pub workload: String,
    pub metric: Metric,
    /// Levels of the other factors, equal in both results.
    pub others: BTreeMap<String, String>,
    pub reference_result: String,
    pub result: String,
    pub change: Comparison,
}

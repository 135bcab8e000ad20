//! Recommendations from a sweep.

use std::collections::BTreeMap;

use samples::Objective;
use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{estimate::Interval, result::ConsumerCost};

/// The result of a sweep of one workload on one path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    pub workload: String,
    pub path: String,
    pub metric: Metric,
    /// Start of the plateau for each numeric factor.
    pub knees: Vec<Knee>,
    /// Pareto front of metric and CPU time, cheapest first.
    pub frontier: Vec<FrontierPoint>,
    /// Owners whose CPU time is included: those known for every result.
    pub consumers: Vec<String>,
    pub recommendations: Vec<Recommendation>,
}

/// The level of a factor beyond which the metric no longer improves.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Knee {
    pub factor: String,
    /// First level on the plateau.
    pub level: String,
    /// Levels that are statistically tied with the knee, in order and including the knee.
    pub plausible: Vec<String>,
    /// Value of the plateau, in the metric's unit.
    pub plateau: f64,
    pub plateau_interval: Option<Interval>,
    /// Each level's label and its best median over the other factors, in the metric's unit.
    pub curve: Vec<(String, f64)>,
    /// First level after the plateau that is significantly below it.
    pub falls_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FrontierPoint {
    pub result: String,
    pub levels: BTreeMap<String, String>,
    /// Value of the metric.
    pub value: f64,
    /// Total CPU time of all owners, in their unit.
    pub cpu: f64,
    pub consumers: Vec<ConsumerCost>,
    /// Gain per additional unit of CPU time over the previous point. `None` for the first point.
    pub marginal: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    pub objective: Objective,
    pub result: String,
    pub levels: BTreeMap<String, String>,
    pub value: f64,
    /// Total CPU time of all owners. `None` if not recorded.
    pub cpu: Option<f64>,
    /// Reasons with numbers, in full sentences.
    pub reason: Vec<String>,
    /// Results that are statistically tied with it.
    pub ties: Vec<String>,
    /// If a serious finding affects the numbers: the reason for withholding the recommendation, and what to
    /// repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

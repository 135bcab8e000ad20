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
    /// Owners included in CPU times: only those with data for every result.
    pub consumers: Vec<String>,
    pub recommendations: Vec<Recommendation>,
}

/// The factor level beyond which the metric no longer improves.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Knee {
    pub factor: String,
    /// First level on the plateau.
    pub level: String,
    /// Levels that are statistically tied with the knee, in order. Includes the knee.
    pub plausible: Vec<String>,
    /// Value of the metric on the plateau.
    pub plateau: f64,
    pub plateau_interval: Option<Interval>,
    /// Each level's label and best median across the other factors, in the metric's unit.
    pub curve: Vec<(String, f64)>,
    /// First level after the plateau at which the metric is significantly worse.
    pub falls_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FrontierPoint {
    pub result: String,
    pub levels: BTreeMap<String, String>,
    /// Value of the metric.
    pub value: f64,
    /// CPU time of all owners together, in the unit of `consumers`.
    pub cpu: f64,
    pub consumers: Vec<ConsumerCost>,
    /// Improvement over the previous point per additional unit of CPU time. `None` for the first point.
    pub marginal: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    pub objective: Objective,
    pub result: String,
    pub levels: BTreeMap<String, String>,
    pub value: f64,
    /// CPU time of all owners together. `None` if it was not recorded.
    pub cpu: Option<f64>,
    /// Reasons with numbers, as full sentences.
    pub reason: Vec<String>,
    /// Results that are statistically tied with the recommended one.
    pub ties: Vec<String>,
    /// If a serious finding affects the recommendation: why it is withheld and what to repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

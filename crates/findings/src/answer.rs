//! What a sweep comes to: where more brings no more, what is worth its CPU time, what to set.

use std::collections::BTreeMap;

use samples::Objective;
use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{cell::OwnerCost, estimate::Interval};

/// The answer to a sweep of one workload on one path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    pub workload: String,
    pub path: String,
    /// What it is measured in.
    pub metric: Metric,
    /// Where more of a factor brings no more, for each factor whose levels are numbers.
    pub knees: Vec<Knee>,
    /// Settings that no other one beats in both the metric and CPU time, from the cheapest up.
    pub frontier: Vec<FrontierPoint>,
    /// What CPU time is added up over: the owners that every cell knows.
    pub owners: Vec<String>,
    /// What to set, for each objective.
    pub recommendations: Vec<Recommendation>,
}

/// From which level of a factor on the metric grows no more.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Knee {
    pub factor: String,
    /// The first level at which the metric has reached its plateau.
    pub level: String,
    /// Levels that the numbers do not tell apart from it, the knee's own included, in order.
    pub plausible: Vec<String>,
    /// The plateau, in the metric's unit.
    pub plateau: f64,
    pub plateau_interval: Option<Interval>,
    /// At each level: label and the best median over the other factors, in the metric's unit.
    pub curve: Vec<(String, f64)>,
    /// Whether the metric falls again after the plateau: the first level that is established to be below it.
    pub falls_at: Option<String>,
}

/// A setting on the frontier.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FrontierPoint {
    pub cell: String,
    pub levels: BTreeMap<String, String>,
    /// Its metric.
    pub value: f64,
    /// CPU time, all owners added, in their unit.
    pub cpu: f64,
    /// By owner.
    pub owners: Vec<OwnerCost>,
    /// What each unit of CPU time brought beyond the point before; `None` for the first.
    pub marginal: Option<f64>,
}

/// What to set for an objective.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    pub objective: Objective,
    pub cell: String,
    pub levels: BTreeMap<String, String>,
    /// Its metric.
    pub value: f64,
    /// CPU time, all owners added; `None` when nobody recorded it.
    pub cpu: Option<f64>,
    /// Why it and no other, in full sentences with the numbers.
    pub why: Vec<String>,
    /// Cells that the numbers do not tell apart from it.
    pub ties: Vec<String>,
    /// Why it must not be followed, and what to repeat: a serious finding says that its numbers cannot be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
}

//! History of a result over its scenario's runs.

use std::collections::BTreeMap;

use samples::{RunId, UnixMillis};
use serde::Serialize;
use workload::Metric;

use crate::estimate::{Estimate, Interval};

#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    pub run: RunId,
    pub started: UnixMillis,
    pub tool: String,
    pub kernel: Option<String>,
    pub results: Vec<RunResult>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub result: String,
    pub path: String,
    pub workload: String,
    pub levels: BTreeMap<String, String>,
    pub metric: Metric,
    pub value: Estimate,
    /// Whether other work used the CPUs during most trials. If so, the value is not compared with other runs.
    pub disturbed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ResultHistory {
    pub newest: RunResult,
    pub points: Vec<(usize, Estimate)>,
    /// The levels between the level shifts. They do not include disturbed runs.
    pub levels: Vec<RunLevel>,
    /// If the value drifts instead of shifting: the fitted line's last value, relative to its first.
    pub drift: Option<f64>,
    /// Prediction interval of the newest value, from earlier runs at its level. `None` with fewer than four such
    /// runs.
    pub expected: Option<Interval>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLevel {
    pub first: usize,
    pub last: usize,
    pub value: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunLevelShift {
    pub result: String,
    pub metric: Metric,
    pub before: f64,
    pub after: f64,
    pub since: RunId,
}

//! History of a result over the runs of its scenario.

use std::collections::BTreeMap;

use samples::{RunId, UnixMillis};
use serde::Serialize;
use workload::Metric;

use crate::estimate::Estimate;

#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    pub run: RunId,
    pub started: UnixMillis,
    pub tool: String,
    /// The machine's kernel. `None` if not recorded.
    pub kernel: Option<String>,
    /// In scenario order.
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
}

#[derive(Debug, Clone, PartialEq)]
pub struct ResultHistory {
    pub newest: RunResult,
    pub points: Vec<(usize, Estimate)>,
    /// Levels separated by level shifts. There is at least one.
    pub levels: Vec<RunLevel>,
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
    /// First run at the new level.
    pub since: RunId,
}

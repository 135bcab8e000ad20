//! A result over the runs of its scenario.

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
    /// Of the machine; `None` if not recorded.
    pub kernel: Option<String>,
    /// In scenario order.
    pub results: Vec<RunResult>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub cell: String,
    pub path: String,
    pub workload: String,
    /// By label.
    pub levels: BTreeMap<String, String>,
    pub metric: Metric,
    pub value: Estimate,
}

/// Oldest run first.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultHistory {
    /// From the newest run.
    pub newest: RunResult,
    /// By index of the run.
    pub points: Vec<(usize, Estimate)>,
    /// At least one. A level shift separates consecutive ones.
    pub levels: Vec<RunLevel>,
}

/// Consecutive runs at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLevel {
    /// Index.
    pub first: usize,
    pub last: usize,
    /// In the metric's unit.
    pub median: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunLevelShift {
    pub cell: String,
    pub metric: Metric,
    /// In the metric's unit.
    pub before: f64,
    pub after: f64,
    /// First run at the new level.
    pub since: RunId,
}

//! A result over the runs of its scenario. Independent of the detection of levels.

use std::collections::BTreeMap;

use samples::{RunId, UnixMillis};
use serde::Serialize;
use workload::Metric;

use crate::estimate::Estimate;

/// Summary of a run for comparing results between runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    pub run: RunId,
    pub started: UnixMillis,
    /// Version of plumb that measured.
    pub tool: String,
    /// Kernel release of the machine; `None` if not recorded.
    pub kernel: Option<String>,
    /// In scenario order.
    pub results: Vec<RunResult>,
}

/// Summary of a result in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub result: String,
    pub path: String,
    pub workload: String,
    /// Factor levels, by label.
    pub levels: BTreeMap<String, String>,
    pub metric: Metric,
    pub value: Estimate,
}

/// A result over several runs, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultHistory {
    /// From the newest run.
    pub newest: RunResult,
    /// Values by index of the run.
    pub points: Vec<(usize, Estimate)>,
    /// Stretches with one level, at least one. Consecutive stretches are separated by a level shift.
    pub levels: Vec<RunLevel>,
}

/// Consecutive runs in which a result stayed at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLevel {
    /// Index of the first run.
    pub first: usize,
    /// Index of the last run.
    pub last: usize,
    /// Median of the runs' values, in the metric's unit.
    pub median: f64,
}

/// A level shift between runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunLevelShift {
    pub result: String,
    pub metric: Metric,
    /// Level before, in the metric's unit.
    pub before: f64,
    /// Level after.
    pub after: f64,
    /// First run at the new level.
    pub since: RunId,
}

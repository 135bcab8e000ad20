//! A result over the runs of its scenario. Must not know how levels are found.

use std::collections::BTreeMap;

use samples::{RunId, UnixMillis};
use serde::Serialize;
use workload::Metric;

use crate::estimate::Estimate;

/// What is kept of a run to tell how its results change from one run to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResults {
    pub run: RunId,
    pub started: UnixMillis,
    /// The version of plumb that measured.
    pub tool: String,
    /// The machine's kernel release; `None` when nobody recorded it.
    pub kernel: Option<String>,
    /// In the order of the scenario.
    pub results: Vec<RunResult>,
}

/// A result of one run, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub cell: String,
    pub path: String,
    pub workload: String,
    /// Levels of the factors, by label.
    pub levels: BTreeMap<String, String>,
    pub metric: Metric,
    pub value: Estimate,
}

/// A result over runs, the oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultHistory {
    /// As the newest run has it.
    pub newest: RunResult,
    /// What each run that has it says, by the run's place among all.
    pub points: Vec<(usize, Estimate)>,
    /// Stretches of one level, at least one. Two that follow each other are a level shift.
    pub levels: Vec<RunLevel>,
}

/// Runs, one after another, in which a result stayed at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLevel {
    /// The place of its first run among all.
    pub first: usize,
    /// That of its last one.
    pub last: usize,
    /// The median of the runs' values, in the metric's unit.
    pub median: f64,
}

/// A result that went from one level to another, and stayed there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunLevelShift {
    pub cell: String,
    pub metric: Metric,
    /// The level before, in the metric's unit.
    pub before: f64,
    /// The level since.
    pub after: f64,
    /// The run that began it.
    pub since: RunId,
}

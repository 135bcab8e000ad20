//! The findings of one run as a document.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    alternatives::{MatchedPairs, Ranking},
    answer::Answer,
    claim::Finding,
    cost_breakdown::{CostBreakdown, FactorEffect},
    estimate::NoiseFloor,
    pair_matrix::PairMatrix,
    probed::RunProbes,
    result::ResultSummary,
};
use samples::{
    BootedMachine, Design, Environment, MachineChange, Origin, PathRecord, RunId, RunState, SkippedResult,
    UnixMillis, UnreadablePart,
};

/// Readers reject other versions.
pub const SCHEMA: u32 = 1;

/// The analysis of one run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    pub run: RunSummary,
    /// All measured results, in scenario order.
    pub results: Vec<ResultSummary>,
    /// Noise floor of each workload with enough trials.
    pub noise: Vec<NoiseFloor>,
    /// Cost breakdown by layer, one per workload and setting.
    pub cost_breakdowns: Vec<CostBreakdown>,
    /// Effect of each factor level relative to the factor's first level.
    pub effects: Vec<FactorEffect>,
    /// Rankings of paths, one per workload and setting with at least three alternative paths.
    pub rankings: Vec<Ranking>,
    /// Matrices of host pairs, one per workload and setting with at least three hosts; they replace rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrices: Vec<PairMatrix>,
    /// Matched pairs of results that differ only in a word such as `vhost`, one per workload.
    pub matched_pairs: Vec<MatchedPairs>,
    /// Recommendations, one per swept workload and path.
    pub answers: Vec<Answer>,
    /// Probes used, and their cost.
    pub probes: RunProbes,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// Results that could not be measured.
    pub skipped: Vec<SkippedResult>,
    /// Limitations in full sentences, e.g. emulation, an unfinished run, too few trials, a loaded host.
    pub limitations: Vec<String>,
}

/// Summary of the run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Identifier.
    pub id: RunId,
    /// Name of the scenario.
    pub scenario: String,
    /// Title of the scenario.
    pub title: String,
    /// Description of the scenario.
    pub about: String,
    /// Start time.
    pub started: UnixMillis,
    pub state: RunState,
    /// Seed of the trial order.
    pub seed: u64,
    /// Planned trials per result.
    pub blocks: u32,
    /// Planned trials in total.
    pub planned: u32,
    /// Completed trials.
    pub completed: u32,
    /// Version of plumb that measured.
    pub tool: String,
    /// Source of the numbers.
    pub origin: Origin,
    /// Selection of trials.
    pub design: Design,
    /// The machine; `None` if not recorded.
    pub environment: Option<Environment>,
    /// Virtual machines booted for the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<BootedMachine>,
    /// Changes of machine or kernel on resuming.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_changes: Vec<MachineChange>,
    /// Stored parts that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePart>,
    pub paths: Vec<PathRecord>,
}

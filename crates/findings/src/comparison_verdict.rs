//! The answer of a comparison. `analysis` derives it once, and every output shows it.

use schemars::JsonSchema;
use serde::Serialize;
use workload::GuardedMetric;

use crate::estimate::Comparison;

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonVerdict {
    pub conclusion: ComparisonConclusion,
    /// The worst and the best established change. If no change is established, the largest undecided change.
    pub changes: Vec<ResultChange>,
    /// Guarded metrics that became worse.
    pub worse_guards: Vec<GuardChange>,
    /// Number of results with each verdict.
    pub results: VerdictCount,
    pub disturbed: Option<DisturbedResults>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonConclusion {
    /// The runs have no results in common.
    #[default]
    Nothing,
    /// Every difference is within the noise.
    Same,
    /// Results became better, and no result or guarded metric became worse.
    Better,
    /// Results or guarded metrics became worse, and no result became better.
    Worse,
    /// Some results became better, and other results or guarded metrics became worse.
    Mixed,
    /// No difference is established.
    Undecided,
    /// Other work on the machine prevents any verdict.
    Repeat,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultChange {
    pub result: String,
    pub label: String,
    pub verdict: Verdict,
    /// `None` if trials without any traffic decide the verdict.
    pub change: Option<Comparison>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GuardChange {
    pub result: String,
    pub label: String,
    pub metric: GuardedMetric,
    /// The change in one sentence.
    pub summary: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCount {
    pub better: u32,
    pub worse: u32,
    pub same: u32,
    pub unknown: u32,
}

/// Results without a verdict because other work used the CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisturbedResults {
    pub results: u32,
    /// One sentence that names the run and the disturbing processes.
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Significantly better.
    Better,
    /// Significantly worse.
    Worse,
    /// No difference beyond the noise.
    Same,
    /// Undecided.
    Unknown,
}

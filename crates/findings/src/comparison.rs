//! Comparison of two runs: environment, then results.

use std::collections::BTreeMap;

use samples::RunId;
use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{
    document::RunSummary,
    estimate::{Comparison, Estimate},
};

/// Readers reject other versions.
pub const COMPARISON_SCHEMA: u32 = 1;

/// Run B relative to run A, the reference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    /// [`COMPARISON_SCHEMA`] at the time of writing.
    pub schema: u32,
    /// The reference.
    pub a: RunSummary,
    /// The run compared with it.
    pub b: RunSummary,
    /// Differences between the environments, most significant first.
    pub environment_changes: Vec<EnvironmentChange>,
    /// Runs used to estimate the noise between runs: the same scenario and environment as A, oldest first, including A. Empty
    /// if not searched.
    pub history: Vec<RunId>,
    /// Results of both runs, in the order of A.
    pub results: Vec<ResultComparison>,
    /// Results only in A.
    pub only_a: Vec<String>,
    /// Results only in B.
    pub only_b: Vec<String>,
    /// Limitations, in full sentences.
    pub limitations: Vec<String>,
}

/// A difference between the environments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EnvironmentChange {
    /// E.g. `kernel`, `congestion control`, `scenario`, `offload tx-tcp-segmentation of client:eth0`.
    pub property: String,
    pub a: String,
    pub b: String,
    /// Whether it may explain a difference in the results on its own.
    pub important: bool,
}

/// One result in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultComparison {
    /// Identifier in A.
    pub result: String,
    /// Identifier in B, if different.
    pub result_b: Option<String>,
    pub path: String,
    pub workload: String,
    pub levels: BTreeMap<String, String>,
    /// The metric used for the verdict.
    pub metric: Metric,
    pub a: Estimate,
    pub b: Estimate,
    /// B relative to A; `None` if undefined.
    pub comparison: Option<Comparison>,
    /// Noise between two runs as a share; smaller differences count as none. The larger of the assumed noise and the noise
    /// estimated from further runs, or a tolerance if there are too few trials. `None` without a ratio.
    pub floor: Option<f64>,
    /// Noise estimated from further runs of the scenario; `None` if there are too few.
    pub between_runs: Option<BetweenRuns>,
    /// Probability of a difference at least as large if both runs were equal; `None` with too few trials, which are judged
    /// by a tolerance.
    ///
    /// For trials, the smaller of a permutation test of the ranks and Student's test of the logarithms, each divided by its
    /// share of the error rate, and at least that of the ranks. If the noise between runs is known, at least Student's test
    /// of the ratio against it. Both are adjusted for the number of results (Benjamini and Hochberg).
    pub p: Option<f64>,
    /// The run in which other work used the CPUs in most trials, and the processes; no verdict is possible then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<String>,
    pub verdict: Verdict,
    /// Reason, in one sentence, if the verdict is unknown, or `same` with a wide interval.
    pub reason: Option<String>,
}

/// Noise between runs of one scenario for a result.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BetweenRuns {
    /// Difference between two runs at 95 % confidence (0.02 is 2 %).
    pub floor: f64,
    /// Number of runs.
    pub runs: u32,
}

/// Verdict of comparing two runs.
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

/// Result of a regression gate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gate {
    /// Regressions beyond this share fail (0.05 is 5 %).
    pub threshold: f64,
    pub outcome: GateOutcome,
    /// Results with an established regression beyond the threshold.
    pub regressions: Vec<String>,
    /// Undecided results and the reasons.
    pub undecided: Vec<OpenQuestion>,
}

/// A result that a gate cannot decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenQuestion {
    /// Identifier in A.
    pub result: String,
    /// In one sentence.
    pub reason: String,
}

/// Outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// Regressions beyond the threshold are ruled out for every result.
    Passed,
    /// A regression is established.
    Regressed,
    /// Regressions are neither established nor ruled out.
    Undecided,
}

/// A comparison with its gate, printed by `plumb check --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckReport {
    pub gate: Gate,
    pub comparison: RunComparison,
}

//! The findings of one run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    alternatives::{MatchedPairs, Ranking},
    answer::Answer,
    claim::{Finding, Role},
    cost_breakdown::{CostBreakdown, FactorEffect},
    estimate::NoiseFloor,
    pair_matrix::PairMatrix,
    probed::RunProbes,
    result::ResultSummary,
    trade_offs::TradeOffs,
    verdict::RunVerdict,
};
use samples::{
    BootedMachine, Design, Environment, MachineChange, Origin, PathRecord, RunId, RunState, SkippedResult,
    UnixMillis, UnreadablePart,
};

/// Readers reject other versions.
pub const SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    pub run: RunSummary,
    /// The answer, derived from the fields below.
    pub verdict: RunVerdict,
    /// All measured results, in scenario order.
    pub results: Vec<ResultSummary>,
    /// Number of results compared with a baseline. The confidence level applies jointly to the intervals of all these
    /// comparisons.
    pub comparisons: u32,
    /// Noise floor of each workload with enough trials.
    pub noise: Vec<NoiseFloor>,
    /// One per workload and setting.
    pub cost_breakdowns: Vec<CostBreakdown>,
    /// Effect of each factor level relative to the factor's first level.
    pub effects: Vec<FactorEffect>,
    /// One per workload and setting with at least three alternative paths.
    pub rankings: Vec<Ranking>,
    /// One per workload and setting with at least three hosts. Matrices replace rankings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matrices: Vec<PairMatrix>,
    /// Matched pairs of results that differ only in a word such as `vhost`, one per workload.
    pub matched_pairs: Vec<MatchedPairs>,
    /// Recommendations, one per swept workload and path.
    pub answers: Vec<Answer>,
    /// `None` unless virtual machines were booted or requirements were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trade_offs: Option<TradeOffs>,
    pub probes: RunProbes,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
    /// Results that could not be measured.
    pub skipped: Vec<SkippedResult>,
    /// Full sentences, e.g. about emulation, an unfinished run, too few trials or a loaded host.
    pub limitations: Vec<String>,
}

impl Findings {
    #[must_use]
    pub fn result(&self, id: &str) -> Option<&ResultSummary> {
        self.results.iter().find(|result| result.id == id)
    }

    pub fn distrusting(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.distrusts() && finding.superseded_by.is_none())
    }

    /// Returns the finding that makes a result's values unreliable. Ignores findings with `Role::Limit`, because they
    /// only hide small differences.
    #[must_use]
    pub fn unreliable(&self, result: &str) -> Option<&Finding> {
        self.distrusting().find(|finding| finding.role == Role::Measurement && finding.concerns(result))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    pub id: RunId,
    pub scenario: String,
    pub title: String,
    pub about: String,
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
    /// Version of plumb that performed the run.
    pub tool: String,
    /// Where the numbers come from.
    pub origin: Origin,
    /// How trials are chosen.
    pub design: Design,
    /// The machine. `None` if not recorded.
    pub environment: Option<Environment>,
    /// Virtual machines booted for the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<BootedMachine>,
    /// Changes of the machine or its kernel before the run was resumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_changes: Vec<MachineChange>,
    /// Stored parts of the run that cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadablePart>,
    pub paths: Vec<PathRecord>,
}

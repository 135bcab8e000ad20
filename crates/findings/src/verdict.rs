//! The answer of a run or single measurement. `analysis` derives it once, and every output shows it.

use std::collections::BTreeMap;

use samples::Objective;
use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{
    claim::Statement,
    estimate::{Comparison, Difference, Estimate, Interval},
};

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunVerdict {
    pub conclusion: Conclusion,
    /// Causes that counters prove, even if the values vary a lot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Statement>,
    /// Other findings that make values unreliable. Findings about the values shown here come first.
    pub cautions: Vec<Statement>,
    /// The most decisive workload first.
    pub workloads: Vec<WorkloadVerdict>,
    /// The best setting of a sweep for each objective.
    pub settings: Vec<SettingChoice>,
    /// The next step. `None` if the conclusion already names it.
    pub next: Option<NextStep>,
    pub trust: Trust,
    pub trials: TrialCount,
    pub comparisons: ComparisonCount,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Conclusion {
    /// The run has no results.
    #[default]
    Nothing,
    /// There is nothing to compare. The values are the answer.
    Values,
    /// A path cannot carry a workload.
    Broken { reason: Statement, action: Option<String> },
    /// The values are unreliable.
    Repeat {
        reason: Statement,
        /// The remedy to apply first.
        action: Option<String>,
    },
    /// The best setting of a sweep.
    Setting,
    /// The first workload's change is established.
    Difference,
    /// Every difference is within the noise.
    NoDifference,
    /// No difference is established. The first workload has the largest possible change.
    Undecided {
        /// Number of trials of the result with the most trials.
        trials: u32,
        /// Number of trials needed to establish a difference.
        needed: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorkloadVerdict {
    pub workload: String,
    pub metric: Metric,
    /// Number of results.
    pub results: u32,
    pub order: ValueOrder,
    /// Two values, or one value if there is a single result.
    pub values: Vec<ResultValue>,
    /// Factor levels that all of these values share.
    pub levels: BTreeMap<String, String>,
    /// Cost of each layer, starting with the lowest.
    pub layers: Vec<LayerCost>,
    /// The largest established change. If no change is established, the largest undecided change.
    pub change: Option<LargestChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueOrder {
    /// The paths with the fewest and the most layers.
    Layers,
    /// The first and the last path of a ranking.
    Ranking,
    /// The best and the worst result.
    BestToWorst,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultValue {
    pub result: String,
    pub path: String,
    pub levels: BTreeMap<String, String>,
    pub value: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LayerCost {
    pub result: String,
    /// Layers that the path adds to the one below.
    pub adds: Vec<String>,
    pub cost: Comparison,
    /// Whether the value of either path is unreliable.
    pub unreliable: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LargestChange {
    /// The setting that changed, e.g. `vxlan over node-to-node`.
    pub what: String,
    /// Levels of the other factors in the comparison.
    pub condition: BTreeMap<String, String>,
    pub result: String,
    pub reference: String,
    /// The result relative to the reference.
    pub change: Comparison,
    /// The largest established change of the same setting in the other direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opposite: Option<OppositeChange>,
    pub cause: Cause,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OppositeChange {
    pub path: String,
    pub result: String,
    pub change: Comparison,
}

impl LargestChange {
    #[must_use]
    pub fn is_established(&self) -> bool {
        matches!(self.change.verdict, Difference::Lower | Difference::Higher)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cause {
    Found(Statement),
    /// No finding explains the change.
    Unknown {
        /// Command that may find the cause.
        investigate: Option<String>,
    },
}

/// The recommended setting of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SettingChoice {
    pub objective: Objective,
    pub metric: Metric,
    pub result: String,
    pub levels: BTreeMap<String, String>,
    pub value: f64,
    /// Number of settings that are statistically tied with this one.
    pub ties: u32,
    /// Why this setting is not recommended yet.
    pub withheld: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextStep {
    /// Identifier of the finding with the remedy.
    pub finding: String,
    pub action: String,
    /// A complete command to run.
    pub command: Option<String>,
    /// Whether the finding explains the change. If not, the remedy may still help.
    pub explains: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Trust {
    pub grade: Grade,
    /// Facts that limit trust in the run. Not all of them lower the grade.
    pub reasons: Vec<TrustReason>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Values are unreliable, or no result has enough trials for a comparison.
    #[default]
    Low,
    /// Trials are missing, or there are warnings or many open comparisons.
    Fair,
    Good,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TrustReason {
    SingleTrials,
    Unfinished,
    /// A finding about the measurement.
    Finding(Statement),
    /// Trials of a result vary by up to this fraction.
    Variation {
        fraction: f64,
    },
    /// Imported results that differ from another result with the same settings.
    Unexplained {
        results: u32,
        of: u32,
    },
    /// Comparisons without a verdict.
    Unclear {
        comparisons: u32,
        of: u32,
    },
    /// Results with warnings.
    Warnings {
        results: u32,
        of: u32,
    },
    Skipped {
        results: u32,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialCount {
    /// Trials used for the values.
    pub used: u32,
    /// Trials repeated after a disturbance.
    pub repeated: u32,
    /// Disturbed or shortened trials, and trials without data.
    pub dropped: u32,
    /// Why a complete run has fewer trials than planned.
    pub stopped: Option<StopReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The time budget was used up.
    Budget,
    /// Every result is precise enough.
    Precise,
    /// Every comparison is decided.
    Decided,
    Other,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ComparisonCount {
    pub decided: u32,
    pub open: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleVerdict {
    pub metric: Metric,
    /// The main value. `None` if no data arrived.
    pub value: Option<f64>,
    /// Uncertainty of a mean. Excludes variation between trials.
    pub interval: Option<Interval>,
    /// The likely bottleneck.
    pub limit: Option<Statement>,
    pub next: Option<NextStep>,
    /// Number of warnings, level shifts and bimodal distributions.
    pub warnings: u32,
}

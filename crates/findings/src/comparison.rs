//! Two runs compared: environment first, then cell by cell.

use std::collections::BTreeMap;

use samples::RunId;
use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{
    document::RunSummary,
    estimate::{Comparison, Estimate},
};

/// The version of [`RunComparison`]'s shape. A reader refuses another one.
pub const CONTRAST_SCHEMA: u32 = 2;

/// Run B against run A: A is the reference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunComparison {
    /// [`CONTRAST_SCHEMA`] when it was written.
    pub schema: u32,
    /// The reference.
    pub a: RunSummary,
    /// What is compared with it.
    pub b: RunSummary,
    /// Where their environments differ, the weightiest first.
    pub surroundings: Vec<SurroundingChange>,
    /// The runs of A's scenario in A's surroundings, A among them and the oldest first, from which the noise between runs
    /// is learned; of too few nothing is learned. Empty where none were looked for.
    pub history: Vec<RunId>,
    /// Cells of both, in the order of A.
    pub cells: Vec<CellComparison>,
    /// Cells of A alone.
    pub only_a: Vec<String>,
    /// Cells of B alone.
    pub only_b: Vec<String>,
    /// What the reader has to know before believing any of it, in full sentences.
    pub caveats: Vec<String>,
}

/// Something around the runs that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SurroundingChange {
    /// What: `kernel`, `congestion control`, `scenario`, `offload tx-tcp-segmentation of client:eth0`.
    pub what: String,
    pub a: String,
    pub b: String,
    /// Whether it alone may explain a difference of the numbers.
    pub weighty: bool,
}

/// One cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellComparison {
    /// Its identity in A.
    pub cell: String,
    /// Its identity in B, where that differs.
    pub cell_b: Option<String>,
    pub path: String,
    pub workload: String,
    pub levels: BTreeMap<String, String>,
    /// What it is judged by.
    pub metric: Metric,
    pub a: Estimate,
    pub b: Estimate,
    /// B over A; `None` when that cannot be said of these numbers.
    pub comparison: Option<Comparison>,
    /// Differences smaller than this share are called none: the larger of what is assumed of two runs and what further runs
    /// show; of too few trials, which do not tell what another would give, an allowance. `None` where there is no ratio.
    pub floor: Option<f64>,
    /// What further runs of the scenario show of it; `None` where there are too few.
    pub between_runs: Option<BetweenRuns>,
    /// Probability of a difference at least as large if both were the same; `None` with too few trials, which an allowance
    /// judges.
    ///
    /// Of the trials it is the smaller of the ranks' (a permutation test) and Student's of the logarithms, each divided by
    /// its share of the chance, and never less than the ranks' own; where the noise between runs was learned, no less than
    /// Student's of the ratio beside that noise. Both are adjusted for the number of cells (Benjamini and Hochberg).
    pub p: Option<f64>,
    /// In which run, if in any, others used the CPUs in most trials, and who: then nothing of the runs follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbed: Option<String>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why, in one sentence, where the verdict is unknown, or the same and much is left open.
    pub why: Option<String>,
}

/// What runs of one scenario differ by in a cell, as several of them show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BetweenRuns {
    /// How far two runs may lie apart (0.02 is 2 %), at a confidence of 95 %.
    pub floor: f64,
    /// The runs it rests on.
    pub runs: u32,
}

/// What a comparison of two runs comes to, as a user would say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Established.
    Better,
    /// Established.
    Worse,
    /// No difference beyond the noise.
    Same,
    /// It cannot be told.
    Unknown,
}

/// What a gate says of a contrast.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gate {
    /// Losses beyond this share fail (0.05 is 5 %).
    pub most_loss: f64,
    /// What it comes to.
    pub outcome: GateOutcome,
    /// Cells whose loss beyond the threshold is established.
    pub lost: Vec<String>,
    /// Cells of which it cannot be told, and why.
    pub unknown: Vec<OpenQuestion>,
}

/// A cell of which a gate cannot tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenQuestion {
    /// Its identity in A.
    pub cell: String,
    /// Why, in one sentence.
    pub why: String,
}

/// What a gate comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// No cell lost more than the threshold, and that is established.
    Passed,
    /// A cell did.
    Lost,
    /// No loss is established, but neither is that there is none.
    CannotTell,
}

/// A contrast and what a gate says of it: what `plumb check --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckReport {
    /// What the gate says.
    pub gate: Gate,
    /// What it says it of.
    pub contrast: RunComparison,
}

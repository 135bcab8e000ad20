//! A claim: what analysis believes, on what evidence, how sure it is, and what to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Worth acting on.
    Warning,
    /// Numbers beside it cannot be trusted, or much is lost.
    Serious,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule that made it, such as `offload-off`; its page is docs/findings/ID.md.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// The claim in one sentence.
    pub claim: String,
    /// The cells that it speaks of.
    pub cells: Vec<String>,
    /// The numbers behind it.
    pub evidence: Vec<Evidence>,
    /// When it could be wrong.
    pub caveats: Vec<String>,
    /// What to do about it.
    pub remedy: Option<Remedy>,
}

/// A number behind a claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What was looked at: `vxlan-offload=off against on`.
    pub what: String,
    /// What it said, with unit and interval: `0.31x (0.28 to 0.35, 95 %)`.
    pub value: String,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// In words.
    pub action: String,
    /// Commands that do it, to be typed where the device is.
    pub commands: Vec<String>,
}

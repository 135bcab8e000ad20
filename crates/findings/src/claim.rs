//! A finding: claim, evidence, limitations and remedy.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{
    estimate::Comparison,
    evidence::Evidence,
    phrase,
    phrase::{Part, Phrase},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// For information only.
    Note,
    /// Worth acting on.
    Warning,
    /// The numbers are unreliable, or the loss is large.
    Serious,
}

impl Severity {
    #[must_use]
    pub fn warning_if(is_warning: bool) -> Self {
        if is_warning { Self::Warning } else { Self::Note }
    }

    /// If the evidence is not significant, the claim is only a note.
    #[must_use]
    pub fn graded(is_sure: bool, is_serious: bool) -> Self {
        if is_sure { Self::serious_if(is_serious) } else { Self::Note }
    }

    #[must_use]
    pub fn serious_if(is_serious: bool) -> Self {
        if is_serious { Self::Serious } else { Self::Warning }
    }
}

/// The subject of a rule's findings. The verdict uses each role differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A setting, device or bottleneck that slows down a result.
    Cause,
    /// A difference without a known cause.
    Symptom,
    /// The reliability of the measured values.
    Measurement,
    /// The smallest resolvable difference. Established differences remain valid.
    Limit,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Identifier of the rule, e.g. `offload-off`. See docs/findings/ID.md.
    pub id: String,
    pub role: Role,
    pub severity: Severity,
    /// Whether the evidence is sufficient.
    pub established: bool,
    /// Whether counters prove the claim, even if the values vary a lot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    #[serde(flatten)]
    pub sentence: Sentence,
    /// Sentences that follow the claim.
    #[serde(default, skip_serializing_if = "Phrase::is_empty")]
    pub further: Phrase,
    /// Identifiers of the affected results.
    pub results: Vec<String>,
    pub evidence: Vec<Evidence>,
    /// Conditions under which the claim could be wrong.
    pub limitations: Vec<String>,
    pub remedy: Option<Remedy>,
    /// The rule of another finding that explains this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
}

impl Finding {
    #[must_use]
    pub fn new(id: &str, role: Role, severity: Severity, lead: impl Into<Phrase>) -> Self {
        Self {
            id: id.to_owned(),
            role,
            severity,
            established: severity > Severity::Note,
            counted: false,
            sentence: Sentence::new(lead, ""),
            further: Phrase::default(),
            results: Vec::new(),
            evidence: Vec::new(),
            limitations: Vec::new(),
            remedy: None,
            superseded_by: None,
        }
    }

    #[must_use]
    pub fn claim(&self) -> Phrase {
        let gap = if self.further.is_empty() { "" } else { " " };
        phrase![self.sentence.phrase(), ".", gap, self.further.clone()]
    }

    #[must_use]
    pub fn concerns(&self, result: &str) -> bool {
        self.results.iter().any(|concerned| concerned == result)
    }

    #[must_use]
    pub fn distrusts(&self) -> bool {
        self.severity == Severity::Serious && matches!(self.role, Role::Measurement | Role::Limit)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Remedy {
    /// The advice, in one sentence without a full stop.
    pub action: String,
    /// Sentences that follow the advice.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub explanation: String,
    /// Commands to run on the device's host.
    pub commands: Vec<String>,
    /// The change, if the lab can apply it.
    #[serde(default)]
    pub change: Option<Change>,
    /// Measured effects of the change, if it was tried.
    #[serde(default)]
    pub effects: Vec<RemedyEffect>,
}

impl Remedy {
    #[must_use]
    pub fn manual(action: impl Into<String>, commands: Vec<String>) -> Self {
        let explanation = String::new();
        Self { action: action.into(), explanation, commands, change: None, effects: Vec::new() }
    }

    #[must_use]
    pub fn explained(self, explanation: impl Into<String>) -> Self {
        Self { explanation: explanation.into(), ..self }
    }

    #[must_use]
    pub fn text(&self) -> String {
        format!("{}. {}", self.action, self.explanation).trim_end().to_owned()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// Enable segmentation, checksum and receive offloads on devices (`host:device`).
    OffloadsOn { devices: Vec<String> },
    /// Set the MTU of devices (`host:device`).
    Mtu {
        devices: Vec<String>,
        /// MTU in bytes.
        mtu: u32,
    },
    /// Set the congestion control algorithm at both ends.
    Congestion { name: String },
    /// Leave the socket buffers to autotuning.
    GrowingBuffers,
    /// Change the placement of the two ends.
    Placement {
        /// `free`, `same-cpu` or `cross-cpu`.
        place: String,
    },
    /// Change the number of parallel connections.
    Streams { streams: u32 },
    /// Use limit mode, which needs the least CPU time.
    LimitMode,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RemedyEffect {
    pub result: String,
    pub label: String,
    pub metric: Metric,
    /// Median without the change, in the metric's unit.
    pub before: f64,
    /// Median with the change.
    pub after: f64,
    /// The result with the change relative to the result without it, compared within blocks.
    pub comparison: Comparison,
}

/// A clause that may continue after a colon.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(into = "WrittenSentence")]
#[schemars(with = "WrittenSentence")]
pub struct Sentence {
    pub lead: Phrase,
    pub detail: Phrase,
}

impl Sentence {
    pub fn new(lead: impl Into<Phrase>, detail: impl Into<Phrase>) -> Self {
        Self { lead: lead.into(), detail: detail.into() }
    }

    #[must_use]
    pub fn phrase(&self) -> Phrase {
        let separator = if self.detail.is_empty() { "" } else { ": " };
        phrase![self.lead.clone(), separator, self.detail.clone()]
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

#[derive(Serialize, JsonSchema)]
struct WrittenSentence {
    /// The claim in one clause.
    lead: Phrase,
    /// Follows the lead after a colon, usually with numbers.
    #[serde(default, skip_serializing_if = "Phrase::is_empty")]
    detail: Phrase,
    parts: Vec<Part>,
}

impl From<Sentence> for WrittenSentence {
    fn from(sentence: Sentence) -> Self {
        let parts = sentence.phrase().parts().to_vec();
        Self { lead: sentence.lead, detail: sentence.detail, parts }
    }
}

/// A finding in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Statement {
    /// Identifier of the finding.
    pub finding: String,
    #[serde(flatten)]
    pub sentence: Sentence,
}

impl From<&Finding> for Statement {
    fn from(finding: &Finding) -> Self {
        Self { finding: finding.id.clone(), sentence: finding.sentence.clone() }
    }
}

//! A finding: claim, evidence, limitations and remedy.

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{estimate::Comparison, evidence::Evidence};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// For information only.
    Note,
    /// Worth acting on.
    Warning,
    /// The affected numbers cannot be trusted, or the loss is large.
    Serious,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Identifier of the rule, e.g. `offload-off`; documented in docs/findings/ID.md.
    pub id: String,
    pub severity: Severity,
    /// The claim. Its first sentence is used on its own in summaries.
    pub claim: String,
    /// Identifiers of the affected results.
    pub results: Vec<String>,
    pub evidence: Vec<Evidence>,
    /// When the claim could be wrong.
    pub limitations: Vec<String>,
    pub remedy: Option<Remedy>,
}

impl Finding {
    /// Rules about the reliability of the measurement as opposed to the path.
    pub const OF_THE_MEASUREMENT: [&str; 13] = [
        "bimodal",
        "cpu-unexplained",
        "disturbed",
        "emulated",
        "imported",
        "level-shift",
        "noisy-host",
        "probe-cost",
        "too-noisy-to-say",
        "trend",
        "unsteady",
        "wait-mistaken-for-work",
        "warm-up-too-short",
    ];

    /// Rules that do not name a cause.
    const RESTATING: [&str; 4] = ["direction-asymmetry", "tail-latency", "vhost-slower", "vxlan-cost"];

    /// Rules about differences that are too small to resolve. Significant differences remain valid.
    const HIDING: [&str; 2] = ["noisy-host", "too-noisy-to-say"];

    #[must_use]
    pub fn leaves_what_is_established(&self) -> bool {
        Self::HIDING.contains(&self.id.as_str())
    }

    #[must_use]
    pub fn restates(&self) -> bool {
        Self::RESTATING.contains(&self.id.as_str())
    }

    const EXPLAINING: [&str; 2] = ["cpu-per-byte", "link-rate"];

    #[must_use]
    pub fn explains(&self) -> bool {
        let is_seen = self.severity > Severity::Note || Self::EXPLAINING.contains(&self.id.as_str());
        is_seen && !self.restates()
    }

    #[must_use]
    pub fn lead(&self) -> &str {
        first_sentence(&self.claim)
    }

    #[must_use]
    pub fn is_of_the_measurement(&self) -> bool {
        Self::OF_THE_MEASUREMENT.contains(&self.id.as_str())
    }

    #[must_use]
    pub fn distrusts(&self) -> bool {
        self.severity == Severity::Serious && self.is_of_the_measurement()
    }

    /// The rule registry fills in the identifier.
    #[must_use]
    pub fn new(severity: Severity, claim: impl Into<String>) -> Self {
        let claim = claim.into();
        Self {
            id: String::new(),
            severity,
            claim,
            results: vec![],
            evidence: vec![],
            limitations: vec![],
            remedy: None,
        }
    }

    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    #[must_use]
    pub fn with_limits<C: Into<String>>(mut self, limitations: impl IntoIterator<Item = C>) -> Self {
        self.limitations.extend(limitations.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn with_remedy(mut self, action: impl Into<String>, commands: Vec<String>) -> Self {
        self.remedy = Some(Remedy::manual(action.into(), commands));
        self
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Remedy {
    /// What to do, in words.
    pub action: String,
    /// Commands to run on the host of the device.
    pub commands: Vec<String>,
    /// The change for the lab to apply. `None` if only the user can make it.
    #[serde(default)]
    pub change: Option<Change>,
    /// Measured effect of the change, if it was tried.
    #[serde(default)]
    pub effects: Vec<RemedyEffect>,
}

impl Remedy {
    #[must_use]
    pub const fn manual(action: String, commands: Vec<String>) -> Self {
        Self { action, commands, change: None, effects: Vec::new() }
    }

    #[must_use]
    pub fn lead(&self) -> &str {
        first_sentence(&self.action)
    }
}

/// A full stop after digits (`3. Results`) does not end the sentence.
fn first_sentence(text: &str) -> &str {
    let ends = |(at, _): &(usize, &str)| {
        let word = text[..*at].rsplit(' ').next().unwrap_or_default();
        !word.chars().all(|letter| letter.is_ascii_digit())
    };
    let end = text.match_indices(". ").find(ends).map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches('.')
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
    /// Set the congestion control at both ends.
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
    /// Use limit mode, which costs the sender and receiver the least.
    LimitMode,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RemedyEffect {
    pub result: String,
    pub metric: Metric,
    /// Median without the change, in the metric's unit.
    pub before: f64,
    /// Median with the change.
    pub after: f64,
    /// The result with the change relative to the one without it, in the same blocks.
    pub comparison: Comparison,
}

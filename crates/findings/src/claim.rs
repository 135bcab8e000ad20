//! A claim: what analysis believes, on what evidence, how sure it is, and what to do.

use schemars::JsonSchema;
use serde::Serialize;
use workload::Metric;

use crate::{estimate::Comparison, evidence::Evidence};

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule that made it, such as `offload-off`; its page is docs/findings/ID.md.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// The claim; its first sentence stands alone.
    pub claim: String,
    /// The cells that it speaks of.
    pub cells: Vec<String>,
    /// What stands behind it.
    pub evidence: Vec<Evidence>,
    /// When it could be wrong.
    pub caveats: Vec<String>,
    /// What to do about it.
    pub remedy: Option<Remedy>,
}

impl Finding {
    /// Rules whose claims say how far the numbers can be trusted, and nothing of the path.
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

    /// Rules whose claims say what the numbers of layers and directions say already, and no cause.
    const RESTATING: [&str; 4] = ["direction-asymmetry", "tail-latency", "vhost-slower", "vxlan-cost"];

    /// Rules whose claims say which differences cannot be seen; what is established stands.
    const HIDING: [&str; 2] = ["noisy-host", "too-noisy-to-say"];

    /// Whether what is established stands beside it.
    #[must_use]
    pub fn leaves_what_is_established(&self) -> bool {
        Self::HIDING.contains(&self.id.as_str())
    }

    /// Whether it names no cause of what it tells.
    #[must_use]
    pub fn restates(&self) -> bool {
        Self::RESTATING.contains(&self.id.as_str())
    }

    /// Rules whose claims are causes though they ask for nothing.
    const EXPLAINING: [&str; 2] = ["cpu-per-byte", "link-rate"];

    /// Whether it names a cause that was seen, and not one that may be.
    #[must_use]
    pub fn explains(&self) -> bool {
        let is_seen = self.severity > Severity::Note || Self::EXPLAINING.contains(&self.id.as_str());
        is_seen && !self.restates()
    }

    /// The first sentence of the claim, which stands alone.
    #[must_use]
    pub fn lead(&self) -> &str {
        first_sentence(&self.claim)
    }

    /// Whether it says how far the numbers can be trusted, and nothing of the path.
    #[must_use]
    pub fn is_of_the_measurement(&self) -> bool {
        Self::OF_THE_MEASUREMENT.contains(&self.id.as_str())
    }

    /// Whether it says that the numbers of its cells cannot be trusted.
    #[must_use]
    pub fn distrusts(&self) -> bool {
        self.severity == Severity::Serious && self.is_of_the_measurement()
    }

    /// A claim with nothing behind it yet; the rule that makes it names it.
    #[must_use]
    pub fn new(severity: Severity, claim: impl Into<String>) -> Self {
        let claim = claim.into();
        Self {
            id: String::new(),
            severity,
            claim,
            cells: vec![],
            evidence: vec![],
            caveats: vec![],
            remedy: None,
        }
    }

    /// The same with what was seen.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// The same with when it could be wrong.
    #[must_use]
    pub fn with_limits<C: Into<String>>(mut self, caveats: impl IntoIterator<Item = C>) -> Self {
        self.caveats.extend(caveats.into_iter().map(Into::into));
        self
    }

    /// The same with what to do by hand.
    #[must_use]
    pub fn with_remedy(mut self, action: impl Into<String>, commands: Vec<String>) -> Self {
        self.remedy = Some(Remedy::manual(action.into(), commands));
        self
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Remedy {
    /// In words.
    pub action: String,
    /// Commands that do it, to be typed where the device is.
    pub commands: Vec<String>,
    /// The same as a change that the lab can apply; `None` when only the user can.
    #[serde(default)]
    pub change: Option<Change>,
    /// What the change brought where it was tried.
    #[serde(default)]
    pub brought: Vec<Brought>,
}

impl Remedy {
    /// What to do in words, with commands that do it; nothing that the lab could try.
    #[must_use]
    pub const fn manual(action: String, commands: Vec<String>) -> Self {
        Self { action, commands, change: None, brought: Vec::new() }
    }

    /// The first sentence of what to do, which stands alone.
    #[must_use]
    pub fn lead(&self) -> &str {
        first_sentence(&self.action)
    }
}

/// Without its full stop. That of a number, as in `3. Results`, ends none.
fn first_sentence(text: &str) -> &str {
    let ends = |(at, _): &(usize, &str)| {
        let word = text[..*at].rsplit(' ').next().unwrap_or_default();
        !word.chars().all(|letter| letter.is_ascii_digit())
    };
    let end = text.match_indices(". ").find(ends).map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches('.')
}

/// A change of a scenario that the lab can apply to a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// Segmentation, checksum and receive offloads of devices on, `host:device` each.
    OffloadsOn { devices: Vec<String> },
    /// One MTU for devices, `host:device` each.
    Mtu {
        devices: Vec<String>,
        /// How large, in bytes of IP packet.
        mtu: u32,
    },
    /// Another congestion control at both ends.
    Congestion { name: String },
    /// Buffers that grow as the kernel likes.
    GrowingBuffers,
    /// Where the two ends run.
    Placement {
        /// `free`, `same-cpu` or `cross-cpu`.
        place: String,
    },
    /// More or fewer parallel connections.
    Streams {
        /// How many.
        streams: u32,
    },
    /// The mode that costs sender and receiver least.
    LimitMode,
}

/// What a change brought in a cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Brought {
    pub cell: String,
    /// What is compared.
    pub metric: Metric,
    /// Its median before, in the metric's unit.
    pub before: f64,
    /// Its median with the change.
    pub after: f64,
    /// With the change against without, from the same blocks.
    pub comparison: Comparison,
}

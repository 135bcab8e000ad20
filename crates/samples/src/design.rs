//! How the trials of a run were chosen, and why each cell got no more of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// How the trials of a run were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Time for all trials; `None` is as long as it takes.
    pub budget: Option<Nanos>,
    /// A cell has enough trials when its median's interval reaches no further than this share of the median to
    /// either side (0.02 is 2 %); `None` makes all that were planned.
    pub precision: Option<f64>,
    /// What the best setting is sought for, where trials are chosen by what the earlier ones said.
    #[serde(default)]
    pub objective: Objective,
    /// Whether the trials go where a comparison is unclear, until none is, instead of where the best setting may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_clear: bool,
}

/// What the user wants of a setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The best value of the metric; of those that cannot be told apart the cheapest.
    Max,
    /// The most of the metric for the CPU time spent, among settings within 10 % of the best.
    #[default]
    Efficient,
    /// The least CPU time, among settings within a half of the best.
    LowCpu,
}

impl Objective {
    /// The share of the best value that a setting must reach to be considered.
    #[must_use]
    pub const fn least_share(self) -> f64 {
        match self {
            Self::Max => 1.0,
            Self::Efficient => 0.9,
            Self::LowCpu => 0.5,
        }
    }
}

impl Design {
    /// Whether trials were chosen by what the earlier ones said.
    #[must_use]
    pub const fn is_adaptive(&self) -> bool {
        self.budget.is_some() || self.precision.is_some() || self.until_clear
    }
}

/// Why a cell got no more trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellEnd {
    pub cell: String,
    pub why: EndReason,
    /// Trials that measure it.
    pub trials: u32,
}

/// Why a cell got no more trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EndReason {
    /// All that were planned were made.
    Planned,
    /// Its interval is as narrow as was asked.
    Precise {
        /// How far it reaches from the median, as a share of it.
        reach: f64,
    },
    /// The time was over.
    Budget {
        /// How far its interval reaches, as a share of the median; `None` with too few trials for one.
        reach: Option<f64>,
    },
    /// It cannot be among the best any more, nor next to the knee: the time went to others.
    Settled,
    /// Each comparison of it is established, or within the noise.
    Clear,
    /// Nothing came through in some of its trials, or none can be used: it is out, whatever the others brought.
    Unusable {
        /// How many of its trials cannot be used.
        trials: u32,
    },
}

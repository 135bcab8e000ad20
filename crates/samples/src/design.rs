//! How the trials of a run were chosen, and why each cell got no more of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// How the trials of a run were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignRecord {
    /// Time for all trials; `None` is as long as it takes.
    pub budget: Option<Nanos>,
    /// A cell has enough trials when its median's interval reaches no further than this share of the median to
    /// either side (0.02 is 2 %); `None` makes all that were planned.
    pub precision: Option<f64>,
}

impl DesignRecord {
    /// Whether trials were chosen by what the earlier ones said.
    #[must_use]
    pub const fn is_adaptive(&self) -> bool {
        self.budget.is_some() || self.precision.is_some()
    }
}

/// Why a cell got no more trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellEnd {
    /// Which cell.
    pub cell: String,
    /// Why.
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
}

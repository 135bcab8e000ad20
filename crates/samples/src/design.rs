//! How the trials of a run were chosen, and why measuring stopped for each result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// How the trials of a run were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Time budget for all trials; `None` for no limit.
    pub budget: Option<Nanos>,
    /// Stop measuring a result once the interval of its median is within this share on either side (0.02 is 2 %);
    /// `None` runs all planned trials.
    pub precision: Option<f64>,
    /// How the best setting is chosen, in an adaptive run.
    #[serde(default)]
    pub objective: Objective,
    /// Whether trials go to undecided comparisons until there are none, instead of candidates for the best setting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_clear: bool,
}

/// What makes a setting the best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The best value of the metric; the cheapest among statistically tied settings.
    Max,
    /// The best value per CPU time, among settings within 10 % of the best value.
    #[default]
    Efficient,
    /// The least CPU time, among settings that reach half of the best value.
    LowCpu,
}

impl Objective {
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
    /// Whether trials depend on earlier results.
    #[must_use]
    pub const fn is_adaptive(&self) -> bool {
        self.budget.is_some() || self.precision.is_some() || self.until_clear
    }
}

/// Why measuring a result stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultEnd {
    pub result: String,
    pub reason: EndReason,
    pub trials: u32,
}

/// Why measuring a result stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EndReason {
    /// All planned trials were run.
    Planned,
    /// Its interval is narrow enough.
    Precise {
        /// Half-width of the interval, as a share of the median.
        reach: f64,
    },
    /// The time budget was used up.
    Budget {
        /// Half-width of the interval, as a share of the median; `None` with too few trials.
        reach: Option<f64>,
    },
    /// It can no longer be the best or near the knee, so further trials went to others.
    Settled,
    /// Each of its comparisons is established, or within the noise.
    Clear,
    /// Some of its trials received nothing, or none is usable, so it is excluded.
    Unusable { trials: u32 },
}

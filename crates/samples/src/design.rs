//! How the trials of a run were chosen, and why measuring stopped for each result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{counters::PathCounters, trial::BlackHole};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Design {
    /// Time budget for all trials; `None` for no limit.
    pub budget: Option<Nanos>,
    /// Stop measuring a result once the interval of its median is within this fraction on either side (0.02 is 2 %).
    /// `None` runs all planned trials.
    pub precision: Option<f64>,
    /// How the best setting is chosen, in an adaptive run.
    #[serde(default)]
    pub objective: Objective,
    /// Whether trials go to undecided comparisons until all are decided, rather than to candidates for the best
    /// setting.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_clear: bool,
}

/// What makes a setting the best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The best value of the metric, or the cheapest setting among statistical ties.
    Max,
    /// The best value per CPU time, among settings within 10 % of the best value.
    #[default]
    Efficient,
    /// The least CPU time, among settings that reach at least half of the best value.
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
    #[must_use]
    pub const fn is_adaptive(&self) -> bool {
        self.budget.is_some() || self.precision.is_some() || self.until_clear
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultEnd {
    pub result: String,
    pub reason: EndReason,
    pub trials: u32,
    /// The MTU black hole on the path, if it drops packets of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub black_hole: Option<BlackHole>,
    /// Counters that show why no trial succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<PathCounters>,
}

/// Why measuring a result stopped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EndReason {
    /// All planned trials were run.
    Planned,
    /// The result's interval is narrow enough.
    Precise {
        /// Half-width of the interval, as a fraction of the median.
        reach: f64,
    },
    /// The time budget was used up.
    Budget {
        /// Half-width of the interval, as a fraction of the median. `None` if there were too few trials.
        reach: Option<f64>,
    },
    /// The result can no longer be the best or near the knee, so the remaining trials went to other results.
    Settled,
    /// Every comparison of the result is decided: significant or within the noise.
    Clear,
    /// The result is excluded, because nothing arrived in some trials or no trial is usable.
    Unusable { trials: u32 },
}

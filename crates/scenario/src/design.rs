//! What lets a run choose its trials by what the earlier ones said. Must not know how it chooses.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use units::Nanos;

/// Trials that a cell gets at most where a budget or a precision ends it and nobody said how many.
pub(crate) const MOST_TRIALS: u32 = 20;
/// Trials that a cell needs before its interval can be called narrow enough: fewer reach no confidence of 90 %.
pub const LEAST_PRECISE: u32 = 5;

/// What lets cells end before all their trials are made; the default is nothing, the full matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Time for all trials.
    pub budget: Option<Nanos>,
    /// How far the interval of a cell's median may reach from it to either side, as a share of it.
    pub precision: Option<f64>,
    /// What the best setting is sought for.
    pub objective: Objective,
}

impl Design {
    /// Budgets that make sense: shorter ones do not last for one trial, longer ones were meant otherwise.
    pub const BUDGETS: RangeInclusive<Nanos> = Nanos::from_secs(1)..=Nanos::from_secs(7 * 24 * 3600);
    /// Precisions that make sense: nothing repeats better than one in a thousand, and what is wider than a half says
    /// nothing.
    pub const PRECISIONS: RangeInclusive<f64> = 0.001..=0.5;

    /// Whether trials are chosen by what the earlier ones said.
    #[must_use]
    pub const fn is_adaptive(&self) -> bool {
        self.budget.is_some() || self.precision.is_some()
    }
}

/// What is wanted of a setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The best value.
    Max,
    /// The most for the CPU time spent, among settings within 10 % of the best.
    #[default]
    Efficient,
    /// The least CPU time, among settings within a half of the best.
    LowCpu,
}

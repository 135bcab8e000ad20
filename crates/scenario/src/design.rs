//! What may be asked of a run that chooses its trials by what the earlier ones said. Must not know how it chooses.

use std::ops::RangeInclusive;

use units::Nanos;

/// Trials that a cell gets at most where a budget or a precision ends it and nobody said how many.
pub(crate) const MOST_TRIALS: u32 = 20;
/// Trials that a cell needs before its interval can be called narrow enough: fewer reach no confidence of 90 %.
pub const LEAST_PRECISE: u32 = 5;
/// Budgets that make sense: shorter ones do not last for one trial, longer ones were meant otherwise.
pub const BUDGETS: RangeInclusive<Nanos> = Nanos::from_secs(1)..=Nanos::from_secs(7 * 24 * 3600);
/// Precisions that make sense: nothing repeats better than one in a thousand, and what is wider than a half says nothing.
pub const PRECISIONS: RangeInclusive<f64> = 0.001..=0.5;

//! The limits of adaptive runs, which choose their trials based on earlier results.

use std::ops::RangeInclusive;

use units::Nanos;

/// The default maximum number of trials per result with a budget or a precision.
pub(crate) const MOST_TRIALS: u32 = 20;
/// The minimum number of trials for a precise result. With fewer, 90 % confidence is impossible.
pub const LEAST_PRECISE: u32 = 5;
/// Shorter budgets do not fit a single trial. Longer ones are probably mistakes.
pub const BUDGETS: RangeInclusive<Nanos> = Nanos::from_secs(1)..=Nanos::from_secs(7 * 24 * 3600);
/// No measurement is repeatable to better than 0.1 %, and a half-width above 50 % would be useless.
pub const PRECISIONS: RangeInclusive<f64> = 0.001..=0.5;

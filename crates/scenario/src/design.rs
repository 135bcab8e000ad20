//! Limits for runs that choose their trials from earlier results.

use std::ops::RangeInclusive;

use units::Nanos;

/// The default limit with a budget or a precision.
pub(crate) const MOST_TRIALS: u32 = 20;
/// Minimum trials per result before its interval counts as precise: fewer cannot reach 90 % confidence.
pub const LEAST_PRECISE: u32 = 5;
/// Shorter budgets do not cover one trial; longer ones are probably a mistake.
pub const BUDGETS: RangeInclusive<Nanos> = Nanos::from_secs(1)..=Nanos::from_secs(7 * 24 * 3600);
/// Nothing repeats more precisely than 0.1 %, and a half-width above 50 % is useless.
pub const PRECISIONS: RangeInclusive<f64> = 0.001..=0.5;

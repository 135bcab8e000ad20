//! Durations in nanoseconds.

use std::{ops::Sub, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{self, UnitTable};

const EXAMPLE: &str = "a time such as 500ms, 2s or 10m";
const UNITS: UnitTable = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3600e9),
];

const SHOWN: UnitTable = &[("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A duration in nanoseconds. Written as `500ms`, `2s`, `10m`; printed with three digits.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Self {
        Self::from_nanos(nanos.0)
    }
}

impl Sub for Nanos {
    type Output = Self;

    /// Returns zero if `other` is longer.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

parse::counted!(Nanos, "ns");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_suffixes() {
        for (text, nanos) in
            [("500ms", 500_000_000), ("2s", 2_000_000_000), ("49.3µs", 49_300), ("10m", 600_000_000_000)]
        {
            assert_eq!(text.parse(), Ok(Nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn rejects_time_without_unit() {
        assert!("10".parse::<Nanos>().is_err());
    }

    #[test]
    fn prints_three_digits() {
        assert_eq!(Nanos(49_312).to_string(), "49.3 µs");
        assert_eq!(Nanos(999).to_string(), "999 ns");
        assert_eq!(Nanos::from_millis(2000).to_string(), "2.00 s");
    }
}

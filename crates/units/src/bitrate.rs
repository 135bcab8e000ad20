//! Data rates, in bits per second.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Bytes, Nanos,
    digits::significant,
    parse::{self, ParseQuantityError, UnitTable},
};

const EXAMPLE: &str = "a rate such as 10Gbit/s or 500Mbit/s";
const UNITS: UnitTable = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    // iperf3's -b accepts single letters.
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
];

/// Bits per second, with decimal prefixes. Written and printed as `9.41 Gbit/s`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BitRate(pub f64);

impl BitRate {
    /// Returns zero if `elapsed` is zero.
    #[must_use]
    pub fn of(bytes: Bytes, elapsed: Nanos) -> Self {
        if elapsed.0 == 0 { Self(0.0) } else { Self(bytes.0 as f64 * 8.0 / elapsed.seconds()) }
    }
}

impl FromStr for BitRate {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::quantity(text, UNITS, EXAMPLE).map(Self)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match parse::scaled(self.0, &UNITS[1..4]) {
            Some(text) => f.write_str(&text),
            None => write!(f, "{} bit/s", significant(self.0, 3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_display_and_parse() {
        for text in ["9.41 Gbit/s", "911 Mbit/s", "64.0 kbit/s"] {
            assert_eq!(text.parse::<BitRate>().expect("valid").to_string(), text);
        }
    }

    #[test]
    fn accepts_iperf3_notation() {
        for (text, rate) in [("1G", 1e9), ("1.5M", 1.5e6), ("10 Gbit", 1e10)] {
            assert_eq!(text.parse(), Ok(BitRate(rate)), "{text}");
        }
    }

    #[test]
    fn rejects_rate_without_unit() {
        assert!("10".parse::<BitRate>().is_err());
    }

    #[test]
    fn divides_bytes_by_time() {
        assert_eq!(BitRate::of(Bytes(1_250_000_000), Nanos::from_millis(1000)), BitRate(1e10));
        assert_eq!(BitRate::of(Bytes(1), Nanos(0)), BitRate(0.0));
    }
}

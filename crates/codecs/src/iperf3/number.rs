//! Numbers and flags in iperf3's JSON. Their form depends on the version: `true` or `1`, `1e9` or
//! `1000000000`, or `null` after a failed division.

use serde::{Deserialize, Deserializer};

/// Debian's 3.12 writes -1 as 2^64 - 1, which is corrected here.
pub(super) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    Number::deserialize(from).map(Number::whole)
}

pub(super) fn maybe_whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Option::deserialize(from).map(|number| number.map(Number::whole))
}

pub(super) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    whole(from).map(|number| number != 0)
}

pub(super) fn real<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Number::deserialize(from).map(Number::real)
}

pub(super) fn maybe_real<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(from).map(|number| number.map(Number::real))
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number")]
enum Number {
    Flag(bool),
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Null(()),
}

impl Number {
    fn whole(self) -> i64 {
        match self {
            Self::Flag(flag) => flag.into(),
            Self::Signed(number) => number,
            Self::Unsigned(number) => number.cast_signed(),
            Self::Real(number) => number as i64,
            Self::Null(()) => 0,
        }
    }

    fn real(self) -> f64 {
        match self {
            Self::Real(number) => number,
            Self::Unsigned(number) => number as f64,
            other => other.whole() as f64,
        }
    }
}

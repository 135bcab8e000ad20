//! Numbers and flags in iperf3's JSON. Versions differ: a flag is `true` or `1`, and a number is `1e9`, `1000000000`,
//! or `null` after a failed division.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// Reads 2^64 - 1 as -1, because Debian's iperf3 3.12 writes -1 that way.
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

enum Number {
    Signed(i64),
    Unsigned(u64),
    Real(f64),
}

impl Number {
    const fn whole(self) -> i64 {
        match self {
            Self::Signed(number) => number,
            Self::Unsigned(number) => number.cast_signed(),
            Self::Real(number) => number as i64,
        }
    }

    const fn real(self) -> f64 {
        match self {
            Self::Signed(number) => number as f64,
            Self::Unsigned(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

/// If a peer sent something other than a number, `#[serde(untagged)]` would use many times the memory of the text.
impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Number, E> {
        Ok(Number::Signed(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Signed(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number::Unsigned(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Real(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Number, E> {
        Ok(Number::Signed(0))
    }
}

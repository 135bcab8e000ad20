//! Numbers and flags in iperf3's JSON, whose form depends on the version: `true` or `1`, `1e9` or `1000000000`, `null` after a
//! failed division.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// Debian's 3.12 writes -1 as 2^64 - 1, which is corrected.
pub(super) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    from.deserialize_any(Whole)
}

pub(super) fn maybe_whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Option::<WholeNumber>::deserialize(from).map(|number| number.map(|number| number.0))
}

/// A boolean or a number.
pub(super) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    whole(from).map(|number| number != 0)
}

pub(super) fn real<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    from.deserialize_any(Real)
}

/// May be missing or `null`.
pub(super) fn maybe_real<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Option::<RealNumber>::deserialize(from).map(|number| number.map(|number| number.0))
}

#[derive(Deserialize)]
struct WholeNumber(#[serde(deserialize_with = "whole")] i64);

#[derive(Deserialize)]
struct RealNumber(#[serde(deserialize_with = "real")] f64);

struct Whole;

impl Visitor<'_> for Whole {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<i64, E> {
        Ok(i64::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        Ok(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        Ok(value.cast_signed())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<i64, E> {
        Ok(value as i64)
    }

    fn visit_unit<E: Error>(self) -> Result<i64, E> {
        Ok(0)
    }
}

struct Real;

impl Visitor<'_> for Real {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_unit<E: Error>(self) -> Result<f64, E> {
        Ok(0.0)
    }
}

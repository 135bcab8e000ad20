//! Reads quantities from text in documents, e.g. `"128KiB"`, with `#[serde(deserialize_with)]`.

use std::{fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error};

pub fn from_text<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// Like [`from_text`], for a field that may be missing.
pub fn some_from_text<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    from_text(from).map(Some)
}

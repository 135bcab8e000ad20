//! Amounts of data, in bytes.

use std::{fmt, iter::Sum, ops::Add, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    parse::{self, ParseQuantityError, UnitTable},
    share::significant,
};

const EXAMPLE: &str = "a size such as 1500, 128KiB or 10GB";
const KIB: f64 = 1024.0;
const UNITS: UnitTable = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", KIB),
    ("MiB", KIB * KIB),
    ("GiB", KIB * KIB * KIB),
    ("TiB", KIB * KIB * KIB * KIB),
    ("K", KIB),
    ("M", KIB * KIB),
    ("G", KIB * KIB * KIB),
];

/// A number of bytes. Written as `1500`, `128KiB`, `10GB`; printed with binary prefixes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::quantity(text, UNITS, EXAMPLE).map(|value| Self(value.round() as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0 as f64;
        let (scaled, unit) = match value {
            v if v < KIB => return write!(f, "{} B", self.0),
            v if v < KIB * KIB => (v / KIB, "KiB"),
            v if v < KIB * KIB * KIB => (v / KIB / KIB, "MiB"),
            v if v < KIB * KIB * KIB * KIB => (v / KIB / KIB / KIB, "GiB"),
            v => (v / KIB / KIB / KIB / KIB, "TiB"),
        };
        write!(f, "{} {unit}", significant(scaled, 3))
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self(0), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_suffixes() {
        for (text, bytes) in
            [("1500", 1500), ("128KiB", 131_072), ("10 GB", 10_000_000_000), ("1m", 1_048_576)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_sizes() {
        for text in ["", "-1", "KiB", "1 apple", "1e400GiB", "nan", "99999999999999GiB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn prints_three_digits() {
        assert_eq!(Bytes(64).to_string(), "64 B");
        assert_eq!(Bytes(131_072).to_string(), "128 KiB");
        assert_eq!(Bytes(3_400_000_000).to_string(), "3.17 GiB");
    }
}

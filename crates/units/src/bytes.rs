//! Amounts of data, in bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{self, UnitTable};

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

const SHOWN: UnitTable =
    &[("KiB", KIB), ("MiB", KIB * KIB), ("GiB", KIB * KIB * KIB), ("TiB", KIB * KIB * KIB * KIB)];

/// A number of bytes. Written as `1500`, `128KiB`, `10GB`; printed with binary prefixes.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

parse::counted!(Bytes, "B");

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

//! Parses `number suffix`, the grammar of all quantities.

use thiserror::Error;

use crate::digits::significant;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseQuantityError {
    #[error("`{text}` does not start with a number; write {example}")]
    NoNumber { text: String, example: &'static str },
    #[error("`{text}` has no unit; write {example}")]
    NoUnit { text: String, example: &'static str },
    #[error("`{suffix}` is not a valid unit; use one of {units}")]
    UnknownUnit { suffix: String, units: String },
    #[error("`{text}` is out of range; write {example}")]
    OutOfRange { text: String, example: &'static str },
}

/// The spelling of each unit, and its size in base units.
pub(crate) type UnitTable = &'static [(&'static str, f64)];

/// Parses a quantity. A number without a suffix has the unit `""`, if the table contains one.
pub(crate) fn quantity(
    text: &str,
    table: UnitTable,
    example: &'static str,
) -> Result<f64, ParseQuantityError> {
    let trimmed = text.trim();
    let split =
        trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (digits, suffix) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
    let out_of_range = || ParseQuantityError::OutOfRange { text: trimmed.to_owned(), example };
    if trimmed.starts_with('-') {
        return Err(out_of_range());
    }
    let number: f64 =
        digits.parse().map_err(|_| ParseQuantityError::NoNumber { text: trimmed.to_owned(), example })?;
    let (_, factor) =
        table.iter().find(|(spelling, _)| spelling.eq_ignore_ascii_case(suffix)).ok_or_else(|| {
            if suffix.is_empty() {
                return ParseQuantityError::NoUnit { text: trimmed.to_owned(), example };
            }
            ParseQuantityError::UnknownUnit { suffix: suffix.to_owned(), units: spellings(table) }
        })?;
    let value = number * factor;
    if value.is_finite() && value <= 9e18 { Ok(value) } else { Err(out_of_range()) }
}

/// Formats a value in the largest unit that does not exceed it, or returns `None`. `units` must be ascending.
pub(crate) fn scaled(value: f64, units: &[(&str, f64)]) -> Option<String> {
    let (unit, factor) = units.iter().rev().find(|(_, factor)| value.abs() >= *factor)?;
    Some(format!("{} {unit}", significant(value / factor, 3)))
}

/// Implements parsing, printing and saturating sums for an integer quantity. The calling module must define the `UNITS`
/// to parse, the larger units to print (`SHOWN`), and an `EXAMPLE` for errors.
macro_rules! counted {
    ($quantity:ident, $base:literal) => {
        impl std::str::FromStr for $quantity {
            type Err = parse::ParseQuantityError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                parse::quantity(text, UNITS, EXAMPLE).map(|value| Self(value.round() as u64))
            }
        }

        impl std::fmt::Display for $quantity {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match parse::scaled(self.0 as f64, SHOWN) {
                    Some(text) => f.write_str(&text),
                    None => write!(f, "{} {}", self.0, $base),
                }
            }
        }

        impl std::ops::Add for $quantity {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl std::iter::Sum for $quantity {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self(0), std::ops::Add::add)
            }
        }
    };
}
pub(crate) use counted;

fn spellings(table: UnitTable) -> String {
    let named: Vec<&str> = table.iter().map(|(spelling, _)| *spelling).filter(|s| !s.is_empty()).collect();
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_includes_an_example() {
        let message = quantity("60", &[("s", 1.0)], "a time such as 2s").map_err(|error| error.to_string());
        assert_eq!(message, Err("`60` has no unit; write a time such as 2s".to_owned()));
        let message = quantity("60q", &[("s", 1.0)], "a time such as 2s").map_err(|error| error.to_string());
        assert_eq!(message, Err("`q` is not a valid unit; use one of s".to_owned()));
    }
}

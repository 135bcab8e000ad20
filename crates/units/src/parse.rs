//! Reading `number suffix`: the one grammar that every quantity shares.

use thiserror::Error;

/// What was wrong with a written quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseQuantityError {
    /// It does not begin with a number.
    #[error("`{text}` does not begin with a number; write {example}")]
    NoNumber {
        /// What was written.
        text: String,
        /// A valid example.
        example: &'static str,
    },
    /// A number alone, of a quantity that needs a unit.
    #[error("`{text}` has no unit; write {example}")]
    NoUnit {
        /// What was written.
        text: String,
        /// A valid example.
        example: &'static str,
    },
    /// The suffix is not a unit of this quantity.
    #[error("`{suffix}` is not a unit here; write one of {units}")]
    UnknownUnit {
        /// What was written after the number.
        suffix: String,
        /// The units that are understood.
        units: String,
    },
    /// The number is negative, not finite, or too large for the quantity.
    #[error("`{text}` is out of range; write {example}")]
    OutOfRange {
        /// What was written.
        text: String,
        /// A valid example.
        example: &'static str,
    },
}

/// A unit's spelling and how many base units it stands for.
pub(crate) type UnitTable = &'static [(&'static str, f64)];

/// Reads `text` as a number of base units; a bare number takes the unit spelled `""` in the table.
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

fn spellings(table: UnitTable) -> String {
    let named: Vec<&str> = table.iter().map(|(spelling, _)| *spelling).filter(|s| !s.is_empty()).collect();
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_its_unit_is_answered_with_an_example() {
        let said = quantity("60", &[("s", 1.0)], "a time such as 2s").map_err(|error| error.to_string());
        assert_eq!(said, Err("`60` has no unit; write a time such as 2s".to_owned()));
        let said = quantity("60q", &[("s", 1.0)], "a time such as 2s").map_err(|error| error.to_string());
        assert_eq!(said, Err("`q` is not a unit here; write one of s".to_owned()));
    }
}

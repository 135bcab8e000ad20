//! Shares and ratios, and printing a number with a chosen count of significant digits.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a whole: 0.5 is one half and prints as `50.0 %`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Share(pub f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        if percent.abs() < 10.0 { write!(f, "{percent:.2} %") } else { write!(f, "{percent:.1} %") }
    }
}

/// `value` with `digits` significant digits and no exponent, as tables want it: `9.41`, `94.1`, `941`.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor();
    let decimals = (digits as f64 - 1.0 - magnitude).max(0.0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_do_not_depend_on_the_magnitude() {
        for (value, text) in
            [(9.414, "9.41"), (94.14, "94.1"), (941.4, "941"), (0.0941, "0.0941"), (0.0, "0")]
        {
            assert_eq!(significant(value, 3), text);
        }
    }

    #[test]
    fn a_share_prints_as_percent() {
        assert_eq!(Share(0.893).to_string(), "89.3 %");
        assert_eq!(Share(0.0123).to_string(), "1.23 %");
    }
}

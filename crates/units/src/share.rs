//! Fractions and confidence levels.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{self, ParseQuantityError};

/// A fraction: 0.5 is one half. Written as `2%`; printed as `2.00 %`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::quantity(text, &[("%", 0.01)], "a share such as 2% or 0.5%").map(Self)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        if percent > 0.0 && percent < 0.005 {
            return write!(f, "<0.01 %");
        }
        if percent.abs() < 10.0 { write!(f, "{percent:.2} %") } else { write!(f, "{percent:.1} %") }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(pub f64);

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let shown = if percent > 99.0 { (percent * 10.0).floor() / 10.0 } else { percent.round() };
        if shown.fract() == 0.0 { write!(f, "{shown:.0} %") } else { write!(f, "{shown:.1} %") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_prints_a_small_share_as_zero() {
        for (share, text) in [(0.0, "0.00 %"), (0.000_025, "<0.01 %"), (0.0001, "0.01 %")] {
            assert_eq!(Share(share).to_string(), text);
        }
    }

    #[test]
    fn parses_percent() {
        for (text, thousandths) in [("2%", Some(20.0)), ("0.5 %", Some(5.0)), ("2", None), ("-1%", None)] {
            let read = text.parse::<Share>().ok().map(|share| (share.0 * 1000.0).round());
            assert_eq!(read, thousandths, "{text}");
        }
    }

    #[test]
    fn never_rounds_confidence_up_to_100_percent() {
        for (share, text) in [(0.9375, "94 %"), (0.95, "95 %"), (0.998_047, "99.8 %"), (0.999_99, "99.9 %")] {
            assert_eq!(Confidence(share).to_string(), text);
        }
    }

    #[test]
    fn prints_percent() {
        assert_eq!(Share(0.893).to_string(), "89.3 %");
        assert_eq!(Share(0.0123).to_string(), "1.23 %");
    }
}

//! Phrases for gains relative to the original value.

use findings::{Comparison, Interval, SEVERAL};

use super::{Confidence, bracket, times};
use crate::{quantity::Scale, text::glued};

/// Formats a gain, e.g. `+69.1 % (+60.2 to +75.0)`, or `2.31x (2.20 to 2.45)` if it is large.
pub(crate) fn gain(comparison: &Comparison, confidence: Confidence) -> String {
    if comparison.ratio >= SEVERAL {
        return times(comparison, confidence);
    }
    let value = gain_alone(comparison);
    let Some(interval) = comparison.ratio_interval else {
        let none = format!("{value} {}", glued("(no interval)"));
        return if confidence == Confidence::Nowhere { value } else { none };
    };
    let change = Interval { low: interval.low - 1.0, high: interval.high - 1.0, ..interval };
    let range = Scale::CHANGE.signed_range(&change);
    format!("{value} {}", bracket(&range, &interval, comparison.basis, confidence))
}

pub(crate) fn gain_alone(comparison: &Comparison) -> String {
    if comparison.ratio >= SEVERAL {
        return glued(&Scale::times(comparison.ratio).quantity(comparison.ratio));
    }
    glued(&Scale::CHANGE.with_unit(&Scale::CHANGE.signed(comparison.ratio - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{Basis, Difference};

    #[test]
    fn large_gains_are_multiples_without_sign() {
        for (ratio, low, high, phrase) in [
            (1.691, 1.602, 1.75, "+69.1 % (+60.2 to +75.0)"),
            (0.74, 0.7, 0.776, "−26.0 % (−30.0 to −22.4)"),
            (2.31, 2.2, 2.45, "2.31x (2.20 to 2.45)"),
        ] {
            let comparison = Comparison {
                ratio,
                ratio_interval: Some(Interval { low, high, confidence: 0.95 }),
                difference: 0.0,
                difference_interval: None,
                verdict: Difference::Unclear,
                basis: Basis::Trials,
            };
            assert_eq!(gain(&comparison, Confidence::InHead).replace('\u{a0}', " "), phrase);
        }
    }
}

//! Evidence for findings: formatted numbers with units and intervals.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos, significant};
use workload::Metric;

use crate::{
    estimate::Comparison,
    number::{Number, Unit},
    phrase::{Part, PartKind, Phrase},
};

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What was observed, e.g. `vxlan-offload=off vs on`.
    pub label: String,
    /// Text with unit and interval, e.g. `0.31x (0.28 to 0.35, 95 %)`.
    pub value: String,
    /// The numbers in `value`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<Number>,
}

impl Evidence {
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), value: String::new(), numbers: Vec::new() }
    }

    #[must_use]
    pub fn text(mut self, words: impl fmt::Display) -> Self {
        self.value.push_str(&words.to_string());
        self
    }

    #[must_use]
    pub fn ratio(self, comparison: &Comparison) -> Self {
        self.written(comparison)
    }

    #[must_use]
    pub fn metric(self, metric: Metric, value: f64) -> Self {
        self.written(Phrase::metric(metric, value))
    }

    #[must_use]
    pub fn number(self, number: Number) -> Self {
        self.written(number)
    }

    #[must_use]
    pub fn share(self, share: f64) -> Self {
        self.number(Number::new(share, Unit::Share))
    }

    #[must_use]
    pub fn time(self, time: Nanos) -> Self {
        self.written(time)
    }

    #[must_use]
    pub fn size(self, size: Bytes) -> Self {
        self.number(Number::new(size.0 as f64, Unit::Bytes))
    }

    #[must_use]
    pub fn count(self, count: u64) -> Self {
        self.written(Phrase::quantity(count.to_string(), count as f64, Unit::Count))
    }

    /// Shows three significant digits, or all digits before the decimal point. The surrounding text must contain the unit.
    #[must_use]
    pub fn rounded(self, value: f64, unit: Unit) -> Self {
        self.written(Phrase::quantity(significant(value, 3), value, unit))
    }

    fn written(mut self, phrase: impl Into<Phrase>) -> Self {
        for Part { text, kind } in phrase.into().parts() {
            self.value.push_str(text);
            self.numbers.extend(match kind {
                PartKind::Quantity(number) => Some(*number),
                PartKind::Text | PartKind::Result { .. } | PartKind::Device => None,
            });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Interval;

    #[test]
    fn text_and_numbers_agree() {
        let interval = Some(Interval { low: 0.01, high: 0.03, confidence: 0.9375 });
        let evidence = Evidence::new("datagrams lost")
            .count(12)
            .text(" of ")
            .count(600)
            .text(", ")
            .number(Number { interval, ..Number::new(0.02, Unit::Share) });
        assert_eq!(evidence.value, "12 of 600, 2.00 % (1.00 % to 3.00 %, 94 %)");
        assert_eq!(
            evidence.numbers.iter().map(|number| number.value).collect::<Vec<_>>(),
            [12.0, 600.0, 0.02]
        );
    }
}

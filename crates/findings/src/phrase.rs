//! Text made of parts that name results, quantities and devices.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use units::{BitRate, Confidence, Nanos};
use workload::Metric;

use crate::{
    estimate::{Comparison, Interval},
    number::{Number, Unit},
};

/// Makes a [`Phrase`] from its arguments.
#[macro_export]
macro_rules! phrase {
    ($($part:expr),* $(,)?) => { $crate::Phrase::default()$(.and($part))* };
}

#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub struct Phrase(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    /// The text, e.g. the label of a result, or a number with its unit and interval.
    pub text: String,
    #[serde(flatten)]
    pub kind: PartKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PartKind {
    Text,
    Result {
        /// Identifier of the result.
        id: String,
    },
    Quantity(Number),
    /// A device as `host:device`.
    Device,
}

impl Phrase {
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        for part in other.into().0 {
            match self.0.last_mut() {
                Some(last) if [&last.kind, &part.kind] == [&PartKind::Text; 2] => {
                    last.text.push_str(&part.text);
                }
                _ => self.0.push(part),
            }
        }
        self
    }

    pub fn result(id: &str, label: &str) -> Self {
        Self::of(label, PartKind::Result { id: id.to_owned() })
    }

    pub fn device(name: impl Into<String>) -> Self {
        Self::of(name, PartKind::Device)
    }

    pub fn quantity(text: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self::of(text, PartKind::Quantity(Number::new(value, unit)))
    }

    #[must_use]
    pub fn metric(metric: Metric, value: f64) -> Self {
        Self::quantity(metric.show(value), value, metric.quantity().into())
    }

    pub(crate) fn of(text: impl Into<String>, kind: PartKind) -> Self {
        let text = text.into();
        Self(if text.is_empty() { Vec::new() } else { vec![Part { text, kind }] })
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| f.write_str(&part.text))
    }
}

impl Serialize for Phrase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<String> for Phrase {
    fn from(text: String) -> Self {
        Self::of(text, PartKind::Text)
    }
}

impl From<&str> for Phrase {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Number> for Phrase {
    fn from(number: Number) -> Self {
        Self::of(number.to_string(), PartKind::Quantity(number))
    }
}

impl From<&Comparison> for Phrase {
    fn from(comparison: &Comparison) -> Self {
        let interval = comparison.ratio_interval;
        let number = Number { interval, ..Number::new(comparison.ratio, Unit::Ratio) };
        Self::of(comparison.to_string(), PartKind::Quantity(number))
    }
}

impl Comparison {
    /// Formats a loss, e.g. `68.8 % (64.9 to 72.0, 94 %)`.
    #[must_use]
    pub fn loss(&self) -> Phrase {
        let lost = |ratio: f64| format!("{:.1}", (1.0 - ratio) * 100.0);
        let range = self.ratio_interval.map_or_else(
            || "too few trials for an interval".to_owned(),
            |it| format!("{} to {}, {}", lost(it.high), lost(it.low), Confidence(it.confidence)),
        );
        let interval =
            self.ratio_interval.map(|it| Interval { low: 1.0 - it.high, high: 1.0 - it.low, ..it });
        let number = Number { interval, ..Number::new(1.0 - self.ratio, Unit::Share) };
        Phrase::of(format!("{} % ({range})", lost(self.ratio)), PartKind::Quantity(number))
    }
}

impl From<Nanos> for Phrase {
    fn from(time: Nanos) -> Self {
        Number::new(time.0 as f64, Unit::Nanoseconds).into()
    }
}

impl From<BitRate> for Phrase {
    fn from(rate: BitRate) -> Self {
        Number::new(rate.0, Unit::BitsPerSecond).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_text_and_keeps_other_parts() {
        let phrase =
            phrase!["a", " stops after ", Nanos(1500), String::new(), " in ", Phrase::result("p/w", "p")];
        assert_eq!(phrase.to_string(), "a stops after 1.50 µs in p");
        let kinds: Vec<&PartKind> = phrase.parts().iter().map(|part| &part.kind).collect();
        let time = PartKind::Quantity(Number::new(1500.0, Unit::Nanoseconds));
        assert_eq!(kinds, [&PartKind::Text, &time, &PartKind::Text, &PartKind::Result { id: "p/w".into() }]);
    }
}

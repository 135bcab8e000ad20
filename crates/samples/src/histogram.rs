//! Round-trip times as a whole distribution: an HdrHistogram, so that trials are merged, never averaged.

use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer as HdrDeserializer, Serializer as HdrSerializer, V2Serializer},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use units::Nanos;

/// The longest time that fits, one minute; longer ones are counted as this.
const LONGEST: u64 = 60_000_000_000;
/// Significant decimal digits that are kept.
const DIGITS: u8 = 3;

/// A distribution of times from 1 ns to one minute, to three significant digits.
///
/// In JSON: HdrHistogram's V2 encoding (<https://github.com/HdrHistogram/HdrHistogram>) in base64.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(transparent)]
pub struct LatencyHistogram(#[schemars(with = "String")] Histogram<u64>);

impl LatencyHistogram {
    /// An empty histogram, all its memory taken at once.
    #[must_use]
    pub fn new() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, DIGITS).expect("the bounds are valid constants"))
    }

    /// Counts one time. Does not allocate.
    pub fn record(&mut self, nanos: Nanos) {
        self.0.saturating_record(nanos.0);
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time that a share of all (0 to 1) does not exceed; `None` when empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        (!self.0.is_empty()).then(|| Nanos(self.0.value_at_quantile(share)))
    }

    /// The shortest time, to the histogram's resolution; `None` when empty.
    #[must_use]
    pub fn min(&self) -> Option<Nanos> {
        (!self.0.is_empty()).then(|| Nanos(self.0.min()))
    }

    /// The longest time, to the histogram's resolution; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        (!self.0.is_empty()).then(|| Nanos(self.0.max()))
    }

    /// Mean in nanoseconds; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean())
    }

    /// Standard deviation in nanoseconds; `None` when empty.
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.stdev())
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.0, &mut bytes).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        let read: Histogram<u64> =
            HdrDeserializer::new().deserialize(&mut bytes.as_slice()).map_err(D::Error::custom)?;
        let mut histogram = Self::new();
        histogram.0.add(&read).map_err(D::Error::custom)?;
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(nanos: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        nanos.iter().for_each(|&n| histogram.record(Nanos(n)));
        histogram
    }

    #[test]
    fn merging_is_the_same_as_counting_together() {
        let mut merged = of(&[10_000, 20_000]);
        merged.merge(&of(&[30_000, 40_000_000]));
        assert_eq!(merged, of(&[10_000, 20_000, 30_000, 40_000_000]));
    }

    #[test]
    fn a_histogram_survives_json() {
        let histogram = of(&[1, 49_312, 49_313, 72_100, 59_000_000_000]);
        let json = serde_json::to_string(&histogram).expect("serialises");
        assert_eq!(serde_json::from_str::<LatencyHistogram>(&json).expect("reads"), histogram);
    }

    #[test]
    fn a_broken_histogram_is_an_error() {
        for text in ["\"\"", "\"AAAA\"", "\"!\"", "17"] {
            assert!(serde_json::from_str::<LatencyHistogram>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentiles_are_true_to_three_digits() {
        let histogram = of(&(1..=1000).map(|n| n * 1000).collect::<Vec<_>>());
        let p99 = histogram.quantile(0.99).expect("not empty").0 as f64;
        assert!((p99 / 990_000.0 - 1.0).abs() < 0.002, "{p99}");
        assert_eq!(of(&[]).quantile(0.5), None);
    }

    #[test]
    fn a_time_longer_than_a_minute_is_counted_as_one() {
        assert_eq!(of(&[u64::MAX]).count(), 1);
    }
}

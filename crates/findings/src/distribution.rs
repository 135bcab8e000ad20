//! Distributions of times: percentiles and a histogram.

use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

/// A distribution of times, merged over trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    pub min: Nanos,
    /// Percentiles at 25, 50, 75, 90, 99 and 99.9 %, each as a fraction and a time.
    pub percentiles: Vec<(f64, Nanos)>,
    pub max: Nanos,
    /// Mean, in nanoseconds.
    pub mean: f64,
    /// Standard deviation, in nanoseconds.
    pub deviation: f64,
    pub count: u64,
    /// Histogram up to the 99.9th percentile. Adjacent buckets, including empty ones, have geometrically growing
    /// widths, and the last bucket holds everything above.
    pub buckets: Vec<Bucket>,
}

impl Distribution {
    /// Returns `None` if the fraction is not in [`Self::percentiles`].
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Nanos> {
        self.percentiles.iter().find(|(other, _)| (other - share).abs() < 1e-9).map(|(_, time)| *time)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bucket {
    /// Inclusive.
    pub from: Nanos,
    /// Exclusive.
    pub to: Nanos,
    pub count: u64,
    /// Fraction of all samples, from 0 to 1.
    pub share: f64,
}

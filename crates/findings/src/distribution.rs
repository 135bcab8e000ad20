//! Distributions of times: percentiles and a histogram.

use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

/// A distribution of times, merged over trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    /// Minimum.
    pub min: Nanos,
    /// (share, time not exceeded by this share): 25, 50, 75, 90, 99, 99.9 %.
    pub percentiles: Vec<(f64, Nanos)>,
    /// Maximum.
    pub max: Nanos,
    /// Mean, nanoseconds.
    pub mean: f64,
    /// Standard deviation, nanoseconds.
    pub deviation: f64,
    /// Number of samples.
    pub count: u64,
    /// Histogram up to the 99.9th percentile: adjacent buckets with geometrically growing widths, including empty ones, and
    /// a last bucket for everything above.
    pub buckets: Vec<Bucket>,
}

impl Distribution {
    /// `None` if the share is not in [`Self::percentiles`].
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Nanos> {
        self.percentiles.iter().find(|(other, _)| (other - share).abs() < 1e-9).map(|(_, time)| *time)
    }
}

/// A histogram bucket.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bucket {
    /// Inclusive.
    pub from: Nanos,
    /// Exclusive.
    pub to: Nanos,
    pub count: u64,
    /// Share of all samples, 0 to 1.
    pub share: f64,
}

//! Distributions of times: percentiles and a histogram.

use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

use crate::estimate::Basis;

/// A distribution of times, merged over trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    pub min: Nanos,
    /// Percentiles at 25, 50, 75, 90, 99 and 99.9 %.
    pub percentiles: Vec<Percentile>,
    /// Whether percentile intervals include the variation between trials.
    #[serde(default)]
    pub basis: Basis,
    pub max: Nanos,
    /// Mean, in nanoseconds.
    pub mean: f64,
    /// Standard deviation, in nanoseconds.
    pub deviation: f64,
    pub count: u64,
    /// Histogram of adjacent buckets, including empty ones. Widths grow geometrically up to the 99.9th percentile.
    /// The last bucket holds everything above.
    pub buckets: Vec<Bucket>,
}

impl Distribution {
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Nanos> {
        self.percentile(share).map(|it| it.time)
    }

    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<&Percentile> {
        self.percentiles.iter().find(|it| (it.share - share).abs() < 1e-9)
    }
}

/// A percentile with its 95 % confidence interval. The interval allows for dependence between a trial's messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Percentile {
    /// The percentile as a fraction, e.g. 0.99.
    pub share: f64,
    pub time: Nanos,
    /// `None` if there are too few messages.
    pub low: Option<Nanos>,
    /// `None` if there are too few messages.
    pub high: Option<Nanos>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bucket {
    /// Inclusive lower bound.
    pub from: Nanos,
    /// Exclusive upper bound.
    pub to: Nanos,
    pub count: u64,
    /// Fraction of all samples, from 0 to 1.
    pub share: f64,
}

//! Times as a distribution: its percentiles, and its shape for drawing.

use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

/// A distribution of times. Those of several trials are merged, never averaged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    /// Shortest.
    pub min: Nanos,
    /// (share of all, time that it does not exceed): 25, 50, 75, 90, 99, 99.9 %.
    pub percentiles: Vec<(f64, Nanos)>,
    /// Longest.
    pub max: Nanos,
    /// Mean, nanoseconds.
    pub mean: f64,
    /// Standard deviation, nanoseconds.
    pub deviation: f64,
    /// Times counted.
    pub count: u64,
    /// Its shape up to the 99.9th percentile: adjacent buckets whose widths grow in proportion, empty ones included.
    /// What is longer is in one more, the last.
    pub buckets: Vec<Bucket>,
}

impl Distribution {
    /// The time that this share of all does not exceed; `None` for a share that [`Self::percentiles`] lacks.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Nanos> {
        self.percentiles.iter().find(|(other, _)| (other - share).abs() < 1e-9).map(|(_, time)| *time)
    }
}

/// The times from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bucket {
    /// From this time.
    pub from: Nanos,
    /// To just below this one.
    pub to: Nanos,
    /// How many.
    pub count: u64,
    /// As a share of all, 0 to 1.
    pub share: f64,
}

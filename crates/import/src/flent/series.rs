//! A series in a flent data file.

use workload::{Direction, Transport};

#[derive(Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) transport: Option<Transport>,
    pub(super) congestion: Option<String>,
    pub(super) received: Option<(f64, f64)>,
    pub(super) samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Stream {
        direction: Direction,
    },
    /// Single round trips, in milliseconds.
    RoundTrips,
    /// Means of the round trips since the previous sample, in milliseconds.
    MeanRoundTrips,
    Other,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// Seconds since 1970.
    pub(super) at: f64,
    pub(super) value: f64,
    pub(super) lasts: Option<f64>,
}

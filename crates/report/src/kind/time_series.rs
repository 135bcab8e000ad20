//! A trial from interval to interval as plain numbers.

use workload::Metric;

/// A rate or a time over time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeSeries {
    /// E.g. `throughput`, `median round trip`.
    pub(crate) what: &'static str,
    /// How they are written.
    pub(crate) metric: Metric,
    pub(crate) samples: Vec<TimeSample>,
}

/// One interval; times in seconds since the trial's first byte or message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeSample {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: f64,
    pub(crate) warmup: bool,
}

impl TimeSample {
    /// In seconds.
    pub(crate) fn length(&self) -> f64 {
        self.end - self.start
    }
}

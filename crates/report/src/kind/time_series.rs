//! A trial over time as plain numbers.

use workload::Metric;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeSeries {
    pub(crate) what: &'static str,
    pub(crate) metric: Metric,
    pub(crate) samples: Vec<TimeSample>,
}

/// One interval. Times are in seconds since the trial's first byte or message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeSample {
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) value: f64,
    pub(crate) warmup: bool,
}

impl TimeSample {
    pub(crate) fn length(&self) -> f64 {
        self.end - self.start
    }
}

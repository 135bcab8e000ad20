//! The first touch of memory. The rate includes only the time spent touching.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{
    column::Column,
    kind::{KindMeasurement, KindSettings, LiveRate, Measurement},
    metric::Metric,
    work::Work,
};

const GIB: f64 = (1_u64 << 30) as f64;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstTouchSettings {
    /// Memory mapped by all threads together.
    pub memory: Bytes,
    /// Number of threads, which divide the memory between them.
    pub threads: u32,
    /// Whether to request transparent huge pages. If not, they are disabled (madvise(2)).
    pub huge_pages: bool,
    /// Measured time, without the warm-up.
    pub duration: Nanos,
    pub warmup: Nanos,
    pub interval: Nanos,
}

impl FirstTouchSettings {
    /// Defaults to 256 MiB, one thread, small pages and no warm-up.
    #[must_use]
    pub const fn new(duration: Nanos) -> Self {
        Self {
            memory: Bytes(256 << 20),
            threads: 1,
            huge_pages: false,
            duration,
            warmup: Nanos(0),
            interval: Nanos::from_millis(100),
        }
    }
}

/// The combined record of all threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstTouchData {
    /// Memory touched after the warm-up.
    pub touched: Bytes,
    /// Time spent touching memory, averaged over threads.
    pub touching: Nanos,
    /// Time from the end of the warm-up until the last thread ended.
    pub elapsed: Nanos,
    /// Page faults after the warm-up that needed no I/O.
    pub minor_faults: u64,
    /// Page faults that needed I/O (swapping).
    pub major_faults: u64,
    /// Samples of all threads together, in order, including the warm-up.
    pub intervals: Vec<FirstTouchInterval>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstTouchInterval {
    pub start: Nanos,
    pub end: Nanos,
    pub warmup: bool,
    pub touched: Bytes,
    /// Time spent touching memory, averaged over threads.
    pub touching: Nanos,
}

impl FirstTouchInterval {
    /// In bytes per second, or `None` if nothing was touched.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        rate(self.touched, self.touching)
    }
}

impl FirstTouchData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::FirstTouch(data) = measurement { Some(data) } else { None }
    }

    /// The combined rate of all threads while they touched memory, or `None` if nothing was touched.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        rate(self.touched, self.touching)
    }

    /// One fault per 4 KiB page gives 262144.
    #[must_use]
    pub fn faults_per_gib(&self) -> Option<f64> {
        let faults = self.minor_faults + self.major_faults;
        (self.touched.0 > 0).then(|| faults as f64 / self.touched.0 as f64 * GIB)
    }
}

fn rate(touched: Bytes, touching: Nanos) -> Option<f64> {
    (touched.0 > 0 && touching.0 > 0).then(|| touched.0 as f64 / touching.seconds())
}

impl KindSettings for FirstTouchSettings {
    fn metric(&self) -> Metric {
        Metric::TouchRate
    }

    fn lasts(&self) -> Option<Nanos> {
        Some(self.duration)
    }

    fn sends_at_most(&self) -> Option<BitRate> {
        Some(BitRate(0.0))
    }

    fn warmup(&self) -> Nanos {
        self.warmup
    }

    fn interval(&self) -> Nanos {
        self.interval
    }

    fn threads(&self) -> usize {
        self.threads as usize
    }

    fn in_words(&self) -> Vec<String> {
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        let pages = if self.huge_pages { "huge pages" } else { "small pages" };
        vec![format!("first touch of {} by {} {threads}", self.memory, self.threads), pages.to_owned()]
    }

    fn live(&self, received: Bytes, _: u64, time: Nanos) -> Option<LiveRate> {
        let per_second = rate(received, time)?;
        Some(LiveRate { per_second, text: format!("{} touched", Metric::TouchRate.show(per_second)) })
    }
}

pub(crate) const COLUMNS: &[Column<FirstTouchData>] = &[
    Column::new("measured", "ns", |data| (data.elapsed.0 > 0).then(|| data.elapsed.0.to_string())),
    Column::new("touched", "bytes", |data| Some(data.touched.0.to_string())),
    Column::new("minor_faults", "", |data| Some(data.minor_faults.to_string())),
    Column::new("major_faults", "", |data| Some(data.major_faults.to_string())),
];

impl KindMeasurement for FirstTouchData {
    fn metric(&self) -> Metric {
        Metric::TouchRate
    }

    fn value(&self) -> Option<f64> {
        self.rate()
    }

    fn work(&self) -> Option<(Work, f64)> {
        let all: u64 = self.intervals.iter().map(|interval| interval.touched.0).sum();
        let touched = all.max(self.touched.0);
        (touched > 0).then_some((Work::Memory, touched as f64))
    }

    fn lasted(&self, _: Nanos) -> Option<Nanos> {
        Some(self.elapsed)
    }

    fn is_void(&self) -> bool {
        self.touched == Bytes(0)
    }

    fn why_no_value(&self) -> &'static str {
        "no memory was touched"
    }

    fn in_a_word(&self) -> String {
        self.rate().map_or_else(|| "nothing touched".to_owned(), |rate| Metric::TouchRate.show(rate))
    }

    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_touch_rate_and_faults_per_gib() {
        let mut data = FirstTouchData { touched: Bytes(1 << 29), ..FirstTouchData::default() };
        assert_eq!((data.value(), data.faults_per_gib()), (None, Some(0.0)), "no time was measured");
        (data.touching, data.elapsed) = (Nanos::from_millis(250), Nanos::from_millis(400));
        (data.minor_faults, data.major_faults) = (131_071, 1);
        assert_eq!(data.value(), Some(GIB * 2.0), "excludes the time for unmapping");
        assert_eq!(data.faults_per_gib(), Some(262_144.0));
        assert_eq!(data.in_a_word(), "2.00 GiB/s");
        assert_eq!(data.column("touched_bytes").as_deref(), Some("536870912"));
        assert_eq!(FirstTouchData::default().value(), None);
        assert!(FirstTouchData::default().is_void());
        assert!(!FirstTouchSettings::new(Nanos::from_secs(1)).has_peer());
    }
}

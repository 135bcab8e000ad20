//! Ballooning, i.e. reclaiming memory from a running virtual machine or giving it back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{
    column::Column,
    kind::{KindMeasurement, KindSettings, LiveRate, Measurement, WorkloadSettings},
    metric::Metric,
    work::Work,
};

/// Typical rate of emulated guests, in bytes per second. Only used for time estimates.
const USUAL_RATE: f64 = 0.3e9;
/// Factor for the estimate, because memory is also touched before the measurement and moved back afterwards.
const ROUNDS: f64 = 4.0;

/// How memory is reclaimed from a virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalloonMethod {
    /// The guest's driver allocates single 4 KiB pages and reports them to the monitor (VIRTIO 1.2, section 5.5).
    VirtioBalloon,
    /// A device has its own memory, and the guest unplugs whole blocks of it (VIRTIO 1.2, section 5.15).
    VirtioMem,
    /// The agent in the guest allocates huge pages and reports their location. The host frees them without involving
    /// the guest.
    Agent,
}

impl BalloonMethod {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::VirtioBalloon => "virtio-balloon",
            Self::VirtioMem => "virtio-mem",
            Self::Agent => "agent",
        }
    }
}

/// The direction of a ballooning test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalloonMove {
    /// From the virtual machine to the host.
    #[default]
    Shrink,
    /// From the host to the virtual machine.
    Grow,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BalloonSettings {
    pub memory: Bytes,
    #[serde(rename = "move")]
    pub direction: BalloonMove,
    /// For `shrink`: whether the guest touches the memory before the test, so that the host allocates it. For `grow`:
    /// whether the guest touches the memory during the test.
    pub touched: bool,
    /// Whether the guest's kernel compacts its memory (migrates pages) continuously during the test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
}

impl BalloonSettings {
    #[must_use]
    pub const fn of(load: &WorkloadSettings) -> Option<&Self> {
        if let WorkloadSettings::Balloon(settings) = load { Some(settings) } else { None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BalloonData {
    pub method: BalloonMethod,
    #[serde(rename = "move")]
    pub direction: BalloonMove,
    pub moved: Bytes,
    /// Time from the request until the first memory was moved.
    pub first: Nanos,
    /// Time from the request until all memory had moved and, if requested, had been touched.
    pub elapsed: Nanos,
    /// Part of `elapsed` that the guest spent touching memory.
    pub touching: Nanos,
    /// Resident memory of the virtual machine before the test.
    pub resident_before: Bytes,
    /// Resident memory after the test.
    pub resident_after: Bytes,
    /// Longest delay of a guest thread that sleeps for 4 ms at a time.
    pub stall: Nanos,
    pub intervals: Vec<BalloonInterval>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BalloonInterval {
    pub start: Nanos,
    pub end: Nanos,
    pub moved: Bytes,
}

impl BalloonInterval {
    /// In bytes per second, or `None` for an empty interval.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let time = self.end - self.start;
        (time.0 > 0).then(|| self.moved.0 as f64 / time.seconds())
    }
}

impl BalloonData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::Balloon(data) = measurement { Some(data) } else { None }
    }

    /// In bytes per second, or `None` if no memory moved.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.moved.0 > 0 && self.elapsed.0 > 0).then(|| self.moved.0 as f64 / self.elapsed.seconds())
    }

    /// The memory freed on the host. Negative if the host had to allocate memory.
    #[must_use]
    pub const fn freed(&self) -> i64 {
        self.resident_before.0.cast_signed() - self.resident_after.0.cast_signed()
    }
}

impl KindSettings for BalloonSettings {
    fn metric(&self) -> Metric {
        Metric::BalloonRate
    }

    fn lasts(&self) -> Option<Nanos> {
        None
    }

    /// Returns an estimate, because the test ends only when all memory has moved.
    fn flows_for(&self) -> Option<Nanos> {
        Some(Nanos((self.memory.0 as f64 * ROUNDS / USUAL_RATE * 1e9) as u64))
    }

    fn sends_at_most(&self) -> Option<BitRate> {
        Some(BitRate(0.0))
    }

    fn warmup(&self) -> Nanos {
        Nanos(0)
    }

    fn interval(&self) -> Nanos {
        Nanos(0)
    }

    fn threads(&self) -> usize {
        1
    }

    fn in_words(&self) -> Vec<String> {
        let memory = self.memory;
        let words = match (self.direction, self.touched) {
            (BalloonMove::Shrink, true) => format!("{memory} of touched memory taken from the machine"),
            (BalloonMove::Shrink, false) => format!("{memory} of untouched memory taken from the machine"),
            (BalloonMove::Grow, true) => format!("{memory} given back to the machine and touched"),
            (BalloonMove::Grow, false) => format!("{memory} given back to the machine"),
        };
        vec![words]
    }

    fn live(&self, received: Bytes, _: u64, time: Nanos) -> Option<LiveRate> {
        let per_second = (time.0 > 0).then(|| received.0 as f64 / time.seconds())?;
        Some(LiveRate { per_second, text: format!("{} moved", Metric::BalloonRate.show(per_second)) })
    }
}

pub(crate) const COLUMNS: &[Column<BalloonData>] = &[
    Column::new("measured", "ns", |data| (data.elapsed.0 > 0).then(|| data.elapsed.0.to_string())),
    Column::new("method", "", |data| Some(data.method.word().to_owned())),
    Column::new("moved", "bytes", |data| Some(data.moved.0.to_string())),
    Column::new("first_moved", "ns", |data| Some(data.first.0.to_string())),
    Column::new("touching", "ns", |data| Some(data.touching.0.to_string())),
    Column::new("host_freed", "bytes", |data| Some(data.freed().to_string())),
    Column::new("guest_stall", "ns", |data| Some(data.stall.0.to_string())),
];

impl KindMeasurement for BalloonData {
    fn metric(&self) -> Metric {
        Metric::BalloonRate
    }

    fn value(&self) -> Option<f64> {
        self.rate()
    }

    fn work(&self) -> Option<(Work, f64)> {
        (self.moved.0 > 0).then_some((Work::Memory, self.moved.0 as f64))
    }

    fn lasted(&self, _: Nanos) -> Option<Nanos> {
        Some(self.elapsed)
    }

    fn is_void(&self) -> bool {
        self.moved == Bytes(0)
    }

    fn why_no_value(&self) -> &'static str {
        "no memory moved"
    }

    fn in_a_word(&self) -> String {
        self.rate().map_or_else(|| "nothing moved".to_owned(), |rate| Metric::BalloonRate.show(rate))
    }

    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_rate_and_memory_freed_on_host() {
        let mut data = BalloonData {
            method: BalloonMethod::VirtioMem,
            direction: BalloonMove::Shrink,
            moved: Bytes(1 << 30),
            first: Nanos::from_millis(10),
            elapsed: Nanos::from_millis(500),
            touching: Nanos(0),
            resident_before: Bytes(3 << 30),
            resident_after: Bytes(5 << 29),
            stall: Nanos::from_millis(2),
            intervals: Vec::new(),
        };
        assert_eq!((data.in_a_word().as_str(), data.freed()), ("2.00 GiB/s", 1 << 29));
        assert_eq!(data.column("method").as_deref(), Some("virtio-mem"));
        data.resident_after = Bytes(7 << 29);
        assert_eq!(data.column("host_freed_bytes").as_deref(), Some("-536870912"));
        data.moved = Bytes(0);
        assert!(data.is_void() && data.value().is_none() && data.work().is_none());
    }
}

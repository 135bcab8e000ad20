//! Memory statistics from the guest's virtio-balloon driver (docs/interop/virtio-balloon-stats.rst of QEMU
//! 7.2).

use std::time::{Duration, SystemTime};

use machine::Monitor;
use serde_json::json;
use units::Bytes;

use super::GuestMemory;
use crate::error::MemoryError;

const BALLOON: &str = "child<virtio-balloon-";
const POLLING: &str = "guest-stats-polling-interval";
const UNKNOWN: u64 = u64::MAX;
const PAGE: f64 = sys::anonymous_memory::PAGE as f64;

#[derive(Debug)]
pub(super) struct DriverStatistics {
    balloon: String,
    counted: Option<Counted>,
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    /// Seconds since 1970.
    at: u64,
    major_faults: u64,
    swapped_in: u64,
}

pub(super) fn balloon(monitor: &mut Monitor) -> Result<Option<String>, MemoryError> {
    Ok(monitor.devices(BALLOON)?.into_iter().next().map(|(path, _)| path))
}

impl DriverStatistics {
    pub(super) fn start(monitor: &mut Monitor, interval: Duration) -> Result<Option<Self>, MemoryError> {
        let Some(balloon) = balloon(monitor)? else { return Ok(None) };
        let polling = json!({ "path": balloon, "property": POLLING, "value": interval.as_secs().max(1) });
        monitor.order("qom-set", &polling)?;
        Ok(Some(Self { balloon, counted: None }))
    }

    pub(super) fn look(
        &mut self,
        monitor: &mut Monitor,
        (stale, machine): (Duration, Bytes),
        seen: &mut GuestMemory,
    ) -> Result<(), MemoryError> {
        let asked = json!({ "path": self.balloon, "property": "guest-stats" });
        let stats = monitor.order("qom-get", &asked)?;
        let at = stats["last-update"].as_u64().unwrap_or(0);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        if at == 0 || now.saturating_sub(at) > stale.as_secs() {
            self.counted = None;
            return Ok(());
        }
        let number = |name: &str| stats["stats"][name].as_u64().filter(|value| *value != UNKNOWN);
        let counted = number("stat-major-faults")
            .zip(number("stat-swap-in"))
            .map(|(major_faults, swapped_in)| Counted { at, major_faults, swapped_in });
        seen.refaults_per_second =
            counted.zip(self.counted).and_then(|(now, before)| now.rate_since(&before));
        self.counted = counted.or(self.counted);
        let possible = |size: &Bytes| *size <= machine;
        [seen.free, seen.available] = ["stat-free-memory", "stat-available-memory"]
            .map(|name| number(name).map(Bytes).filter(possible));
        Ok(())
    }
}

impl Counted {
    fn rate_since(&self, before: &Self) -> Option<f64> {
        let seconds = self.at.checked_sub(before.at).filter(|seconds| *seconds > 0)? as f64;
        let faults = self.major_faults.checked_sub(before.major_faults)? as f64;
        let pages = self.swapped_in.checked_sub(before.swapped_in)? as f64 / PAGE;
        Some((faults + pages) / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_rate_unless_guest_rebooted() {
        let counted = |at, major_faults, pages: u64| Counted { at, major_faults, swapped_in: pages * 4096 };
        let before = counted(100, 1000, 50);
        assert_eq!(counted(110, 1020, 80).rate_since(&before), Some(5.0));
        assert_eq!(counted(100, 1020, 80).rate_since(&before), None, "no new report");
        assert_eq!(counted(110, 3, 0).rate_since(&before), None, "counters were reset");
    }
}

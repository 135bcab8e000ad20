//! A virtual machine of QEMU that runs already, over its monitor: what its guest says of its memory, and its balloon. Must not
//! know who decides how much it may have. Source: qapi/machine.json and docs/interop/virtio-balloon-stats.rst of QEMU 7.2.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use machine::Monitor;
use serde_json::{Value, json};
use units::Bytes;

use crate::error::MemoryError;

/// How the types of balloons begin, on whatever bus.
const BALLOON: &str = "child<virtio-balloon-";
const POLLING: &str = "guest-stats-polling-interval";
const SIZE: &str = "query-balloon";
/// What a driver says of what it does not know.
const UNKNOWN: u64 = u64::MAX;
const PAGE: f64 = sys::anonymous_memory::PAGE as f64;

/// A virtual machine whose monitor's only client this is.
#[derive(Debug)]
pub struct RunningVm {
    monitor: Monitor,
    /// QEMU's path of the balloon.
    balloon: String,
    counted: Option<Counted>,
}

/// What its guest has counted since it booted.
#[derive(Debug, Clone, Copy)]
struct Counted {
    /// When it told that, in seconds since 1970.
    at: u64,
    major_faults: u64,
    /// In bytes.
    swapped_in: u64,
}

/// The memory of a guest, as it is now. What its driver does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuestMemory {
    /// What it has, by the monitor: all that it was started with, less what its balloon holds.
    pub size: Bytes,
    /// Of its process, in RAM.
    pub resident: Option<Bytes>,
    pub free: Option<Bytes>,
    /// What could be handed out without swapping.
    pub available: Option<Bytes>,
    /// Page faults that had to wait for input, and pages read back from swap, a second.
    pub refaults: Option<f64>,
}

impl RunningVm {
    /// Becomes the client of the monitor at this socket, and has the guest's driver tell how its memory is used at this
    /// interval, of at least a second.
    ///
    /// # Errors
    /// When nobody listens there, it has another client, or the machine has no virtio-balloon.
    pub fn open(at: &Path, interval: Duration) -> Result<Self, MemoryError> {
        let mut monitor = Monitor::open(at)?;
        let (balloon, _) = monitor.devices(BALLOON)?.into_iter().next().ok_or(MemoryError::NoBalloon)?;
        let polling = json!({ "path": balloon, "property": POLLING, "value": interval.as_secs().max(1) });
        monitor.order("qom-set", &polling)?;
        Ok(Self { monitor, balloon, counted: None })
    }

    /// All that it was started with.
    ///
    /// # Errors
    /// When QEMU does not answer.
    pub fn whole(&mut self) -> Result<Bytes, MemoryError> {
        const COMMAND: &str = "query-memory-size-summary";
        let answer = self.monitor.order(COMMAND, &json!({}))?;
        let parts = ["base-memory", "plugged-memory"].map(|part| answer[part].as_u64());
        let whole = parts[0].map(|base| base + parts[1].unwrap_or(0));
        whole.map(Bytes).ok_or_else(|| strange(COMMAND, &answer))
    }

    /// Its memory as it is now; `None` for what the guest says where it has said nothing for longer than `stale`.
    ///
    /// # Errors
    /// When QEMU does not answer.
    pub fn look(&mut self, stale: Duration) -> Result<GuestMemory, MemoryError> {
        let answer = self.monitor.order(SIZE, &json!({}))?;
        let size = answer["actual"].as_u64().ok_or_else(|| strange(SIZE, &answer))?;
        let asked = json!({ "path": self.balloon, "property": "guest-stats" });
        let told = self.monitor.order("qom-get", &asked)?;
        let resident = self.monitor.listener().and_then(|pid| machine::resident(&[pid]));
        let seen = GuestMemory { size: Bytes(size), resident, ..GuestMemory::default() };
        let at = told["last-update"].as_u64().unwrap_or(0);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        if at == 0 || now.saturating_sub(at) > stale.as_secs() {
            self.counted = None;
            return Ok(seen);
        }
        let number = |name: &str| told["stats"][name].as_u64().filter(|value| *value != UNKNOWN);
        let counted = number("stat-major-faults")
            .zip(number("stat-swap-in"))
            .map(|(major_faults, swapped_in)| Counted { at, major_faults, swapped_in });
        let refaults = counted.zip(self.counted).and_then(|(now, before)| now.rate_since(&before));
        self.counted = counted.or(self.counted);
        let [free, available] =
            ["stat-free-memory", "stat-available-memory"].map(|name| number(name).map(Bytes));
        Ok(GuestMemory { free, available, refaults, ..seen })
    }

    /// Asks that it have so much; the guest gives or takes it in its own time.
    ///
    /// # Errors
    /// When QEMU does not answer, or refuses.
    pub fn resize(&mut self, size: Bytes) -> Result<(), MemoryError> {
        self.monitor.order("balloon", &json!({ "value": size.0 }))?;
        Ok(())
    }
}

impl Counted {
    /// `None` of the same moment, and of a guest that has booted anew.
    fn rate_since(&self, before: &Self) -> Option<f64> {
        let seconds = self.at.checked_sub(before.at).filter(|seconds| *seconds > 0)? as f64;
        let faults = self.major_faults.checked_sub(before.major_faults)? as f64;
        let pages = self.swapped_in.checked_sub(before.swapped_in)? as f64 / PAGE;
        Some((faults + pages) / seconds)
    }
}

fn strange(command: &'static str, answer: &Value) -> MemoryError {
    MemoryError::Strange { command, answer: answer.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_becomes_a_rate_and_a_guest_that_booted_anew_has_none() {
        let counted = |at, major_faults, pages: u64| Counted { at, major_faults, swapped_in: pages * 4096 };
        let before = counted(100, 1000, 50);
        assert_eq!(counted(110, 1020, 80).rate_since(&before), Some(5.0));
        assert_eq!(counted(100, 1020, 80).rate_since(&before), None, "nothing new was told");
        assert_eq!(counted(110, 3, 0).rate_since(&before), None, "it began from zero");
    }
}

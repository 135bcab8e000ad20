//! Reads a machine's tap devices at the start and the end of a measurement.

use probe::{VmQueue, VmReading};
use samples::{DeviceCounters, DeviceState, Unread, VmFacts};
use topology::{ForeignTapState, Refusal};
use units::Bytes;

/// Each device's first queue and initial state.
pub(super) struct Taps {
    pid: u32,
    begun: Vec<(VmQueue, Result<ForeignTapState, Refusal>)>,
}

impl Taps {
    /// Devices open at this reading.
    pub(super) fn of(pid: u32, reading: &VmReading) -> Self {
        let mut begun: Vec<(VmQueue, Result<ForeignTapState, Refusal>)> = Vec::new();
        for queue in reading.queues() {
            if !begun.iter().any(|(known, _)| known.tap == queue.tap) {
                let tap = read(pid, &queue);
                begun.push((queue, tap));
            }
        }
        Self { pid, begun }
    }

    /// Adds their current state and the counter differences.
    pub(super) fn put_in(self, facts: &mut VmFacts) {
        for (queue, begun) in self.begun {
            let now = read(self.pid, &queue);
            let is_its = |device: &&mut samples::VmDevice| device.tap.as_ref() == Some(&queue.tap);
            let Some(device) = facts.devices.iter_mut().find(is_its) else { continue };
            let counters = now.as_ref().ok().zip(begun.as_ref().ok());
            device.counters = counters.map(|(now, begun)| passed(&queue.tap, &now.counters, &begun.counters));
            match now.or(begun) {
                Ok(tap) => {
                    device.header = tap.header;
                    device.qdisc = Some(tap.qdisc);
                    device.master = tap.master;
                    device.state = Some(DeviceState { device: queue.tap, ..tap.state });
                }
                Err(refusal) => facts.unread.push(Unread {
                    what: format!("the tap device {}", queue.tap),
                    because: format!("{refusal}; run as root"),
                }),
            }
        }
    }
}

fn read(pid: u32, queue: &VmQueue) -> Result<ForeignTapState, Refusal> {
    topology::foreign_tap(pid, queue.descriptor, &queue.tap)
}

fn passed(tap: &str, now: &DeviceCounters, begun: &DeviceCounters) -> DeviceCounters {
    let bytes = |now: Bytes, begun: Bytes| Bytes(now.0.saturating_sub(begun.0));
    DeviceCounters {
        device: tap.to_owned(),
        rx_packets: now.rx_packets.saturating_sub(begun.rx_packets),
        rx_bytes: bytes(now.rx_bytes, begun.rx_bytes),
        rx_dropped: now.rx_dropped.saturating_sub(begun.rx_dropped),
        rx_errors: now.rx_errors.saturating_sub(begun.rx_errors),
        tx_packets: now.tx_packets.saturating_sub(begun.tx_packets),
        tx_bytes: bytes(now.tx_bytes, begun.tx_bytes),
        tx_dropped: now.tx_dropped.saturating_sub(begun.tx_dropped),
        tx_errors: now.tx_errors.saturating_sub(begun.tx_errors),
        ..DeviceCounters::default()
    }
}

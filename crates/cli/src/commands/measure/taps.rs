//! Reads the state of a machine's tap devices at the start and the end of a measurement.

use probe::{VmQueue, VmReading};
use samples::{DeviceCounters, DeviceState, Unread, VmFacts};
use topology::{ForeignTapState, Refusal};
use units::Bytes;

pub(super) struct Taps {
    pid: u32,
    initial: Vec<(VmQueue, Result<ForeignTapState, Refusal>)>,
}

impl Taps {
    pub(super) fn of(pid: u32, reading: &VmReading) -> Self {
        let mut initial: Vec<(VmQueue, Result<ForeignTapState, Refusal>)> = Vec::new();
        for queue in reading.queues() {
            if !initial.iter().any(|(known, _)| known.tap == queue.tap) {
                let tap = read(pid, &queue);
                initial.push((queue, tap));
            }
        }
        Self { pid, initial }
    }

    pub(super) fn put_in(self, facts: &mut VmFacts) {
        for (queue, initial) in self.initial {
            let now = read(self.pid, &queue);
            let is_its = |device: &&mut samples::VmDevice| device.tap.as_ref() == Some(&queue.tap);
            let Some(device) = facts.devices.iter_mut().find(is_its) else { continue };
            let counters = now.as_ref().ok().zip(initial.as_ref().ok());
            device.counters =
                counters.map(|(now, initial)| passed(&queue.tap, &now.counters, &initial.counters));
            match now.or(initial) {
                Ok(tap) => {
                    device.header = tap.header;
                    device.qdisc = Some(tap.qdisc);
                    device.master = tap.master;
                    device.state = Some(DeviceState { device: queue.tap, ..tap.state });
                }
                Err(refusal) => facts.unread.push(Unread {
                    what: format!("the tap device {}", queue.tap),
                    reason: format!("{refusal}; run as root"),
                }),
            }
        }
    }
}

fn read(pid: u32, queue: &VmQueue) -> Result<ForeignTapState, Refusal> {
    topology::foreign_tap(pid, queue.descriptor, &queue.tap)
}

fn passed(tap: &str, now: &DeviceCounters, initial: &DeviceCounters) -> DeviceCounters {
    let bytes = |now: Bytes, initial: Bytes| Bytes(now.0.saturating_sub(initial.0));
    DeviceCounters {
        device: tap.to_owned(),
        rx_packets: now.rx_packets.saturating_sub(initial.rx_packets),
        rx_bytes: bytes(now.rx_bytes, initial.rx_bytes),
        rx_dropped: now.rx_dropped.saturating_sub(initial.rx_dropped),
        rx_errors: now.rx_errors.saturating_sub(initial.rx_errors),
        tx_packets: now.tx_packets.saturating_sub(initial.tx_packets),
        tx_bytes: bytes(now.tx_bytes, initial.tx_bytes),
        tx_dropped: now.tx_dropped.saturating_sub(initial.tx_dropped),
        tx_errors: now.tx_errors.saturating_sub(initial.tx_errors),
        ..DeviceCounters::default()
    }
}

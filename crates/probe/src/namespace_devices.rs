//! Reads the device counters of a process's network namespace from /proc/PID/net/dev (proc_pid_net(5)).

use samples::DeviceCounters;
use units::Bytes;

use crate::target::open;

/// Returns the counters of all devices since their creation, or an empty list if they cannot be read.
#[must_use]
pub fn namespace_devices(pid: u32) -> Vec<DeviceCounters> {
    let Some(status) = open(pid).and_then(|process| process.dev_status().ok()) else { return Vec::new() };
    let mut devices: Vec<DeviceCounters> = status
        .into_values()
        .map(|device| DeviceCounters {
            device: device.name,
            rx_packets: device.recv_packets,
            rx_bytes: Bytes(device.recv_bytes),
            rx_dropped: device.recv_drop,
            rx_errors: device.recv_errs,
            tx_packets: device.sent_packets,
            tx_bytes: Bytes(device.sent_bytes),
            tx_dropped: device.sent_drop,
            tx_errors: device.sent_errs,
            ..DeviceCounters::default()
        })
        .collect();
    devices.sort_by(|one, other| one.device.cmp(&other.device));
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_loopback_device_and_nothing_for_missing_process() {
        let devices = namespace_devices(std::process::id());
        assert!(devices.iter().any(|device| device.device == "lo"), "{devices:?}");
        assert_eq!(namespace_devices(u32::MAX), Vec::new());
    }
}

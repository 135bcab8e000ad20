//! Counters of the client's own device and host.

use ::scenario::{DeviceName, DeviceRef, HostName};
use samples::PathCounters;
use topology::Topology;

const CLIENT: &str = "The client";

pub(crate) struct OwnCounters {
    topology: Topology,
    device: DeviceRef,
}

impl OwnCounters {
    pub(crate) fn of(device: &str) -> Option<Self> {
        let name = DeviceName::new(device);
        let (topology, found) = Topology::existing(&HostName::new(CLIENT), None, Some(&name)).ok()?;
        Some(Self { topology, device: found.end.device })
    }

    pub(crate) fn read(&self) -> Option<PathCounters> {
        let mut counters = self.topology.reading(std::slice::from_ref(&self.device)).ok()?;
        counters.devices.iter_mut().for_each(|device| device.device = self.device.device.to_string());
        Some(counters)
    }
}

//! A lab that has been created. Dropping it removes the lab.
//!
//! Calls block. They may come from any thread, but not from an async runtime.

use std::{collections::BTreeMap, fmt, net::IpAddr};

use parking_lot::Mutex;
use samples::{DeviceState, PathCounters};
use scenario::{DeviceRef, DeviceSettings, Family, Gateway, HostName, Link};
use sys::netns::NetNs;

use crate::{
    configure::{self, Originals},
    device_kind::DeviceKind,
    devices::Devices,
    error::{ConfigureError, ReadError},
    link::{self, Tap, Taps},
    missing_capabilities::Missing,
    namespaces::Namespaces,
    path_counters, read_back,
};

pub struct Topology {
    pub(crate) namespaces: Namespaces,
    pub(crate) devices: Devices,
    pub(crate) gateways: Vec<Gateway>,
    pub(crate) links: Vec<Link>,
    pub(crate) taps: Taps,
    pub(crate) missing: Vec<Missing>,
    /// The lock is held during each exchange with the kernel, because the sockets do not support concurrent
    /// use.
    pub(crate) originals: Mutex<Originals>,
}

impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.namespaces().collect();
        f.debug_struct("Topology")
            .field("hosts", &hosts)
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentDevice {
    pub at: DeviceRef,
    pub kind: DeviceKind,
    pub namespace: u64,
    pub index: u32,
}

impl Topology {
    pub fn tap(&self, guest: &HostName) -> Option<std::io::Result<Tap>> {
        let nic = link::nic_of(&self.links, guest)?;
        let queues = self.taps.get(&nic.port)?.iter().map(std::fs::File::try_clone).collect();
        let mac = link::mac_of_guest(nic.address.addr());
        Some(std::io::Result::map(queues, |queues| Tap { queues, at: nic.port.clone(), mac }))
    }

    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    #[must_use]
    pub fn has(&self, at: &DeviceRef) -> bool {
        self.devices().any(|device| device.at == *at)
    }

    #[must_use]
    pub fn namespace_of(&self, address: IpAddr) -> Option<&NetNs> {
        let family = Family::of(address);
        let mut devices = self.links.iter().flat_map(Link::devices);
        let device = devices.find(|device| {
            device.address.is_some_and(|has| family.address(has.addr()) == Some(address))
                && self.namespaces.get(&device.at.host).is_some()
        })?;
        self.namespaces.get(&device.at.host)
    }

    #[must_use]
    pub fn namespace(&self, host: &HostName) -> Option<&NetNs> {
        self.namespaces.get(host)
    }

    pub fn namespaces(&self) -> impl Iterator<Item = (&HostName, &NetNs)> {
        self.namespaces.iter()
    }

    /// Resets devices without an entry, and settings that are `None`, to their values at creation. Skips missing
    /// devices.
    pub fn configure(&self, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Result<(), ConfigureError> {
        let settings = configure::settings_of_existing(settings, &self.missing);
        configure::configure(&self.namespaces, &self.devices, &mut self.originals.lock(), &settings)
    }

    pub fn device_states(&self, devices: &[DeviceRef]) -> Result<Vec<DeviceState>, ReadError> {
        let _lock = self.originals.lock();
        read_back::states(&self.namespaces, &self.devices, devices)
    }

    pub fn devices(&self) -> impl Iterator<Item = PresentDevice> {
        let is_missing = |at: &DeviceRef| self.missing.iter().any(|missing| missing.devices.contains(at));
        self.devices.all().filter(move |device| !is_missing(&device.at)).filter_map(|device| {
            let namespace = self.namespaces.get(&device.at.host)?.inode();
            Some(PresentDevice { at: device.at.clone(), kind: device.kind, namespace, index: device.index })
        })
    }

    pub fn reading(&self, devices: &[DeviceRef]) -> Result<PathCounters, ReadError> {
        let _lock = self.originals.lock();
        path_counters::read(&self.namespaces, &self.devices, &self.gateways, devices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topology_is_send_and_sync() {
        fn assert_send_sync<T: Send + Sync>() {}
        assert_send_sync::<Topology>();
    }
}

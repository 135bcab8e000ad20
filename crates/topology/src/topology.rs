//! A created lab, and the operations on it.
//!
//! Calls block and may come from any thread, but not from an async runtime. Dropping the value closes the last file
//! descriptors of the namespaces, which removes everything in them.

use std::{
    collections::BTreeMap,
    fmt,
    net::Ipv4Addr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use samples::{DeviceState, PathCounters};
use scenario::{DeviceName, DeviceRef, DeviceSettings, Gateway, HostName, Lab, Link};
use sys::netns::NetNs;

use crate::{
    configure::{self, Originals},
    create,
    devices::Devices,
    error::{ConfigureError, CreateError, FindError, ReadError},
    existing::{self, FoundInterface},
    link::{self, DeviceKind, Tap, Taps},
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
    /// Locked during each exchange with the kernel: sockets are not for concurrent use.
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

/// The kernel's identification of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentDevice {
    pub at: DeviceRef,
    pub kind: DeviceKind,
    /// Inode of its network namespace (nsfs).
    pub namespace: u64,
    /// Interface index in the namespace.
    pub index: u32,
}

impl Topology {
    /// Creates `lab` in new namespaces and verifies it by reading back. Unsupported parts are left out and listed in
    /// [`Topology::missing`].
    pub fn create(lab: &Lab) -> Result<Self, CreateError> {
        create::create(lab)
    }

    /// In a guest, configures the devices of `host`, found by their MAC addresses, and verifies them by reading back.
    /// On an existing host, in whose own namespace the calling thread is, creates the part of the lab on it, in
    /// namespaces removed with this value.
    pub fn inside(lab: &Lab, host: &HostName) -> Result<Self, CreateError> {
        create::inside(&lab.inside(host), host)
    }

    /// Finds the device of the existing host `host`, where this process runs, by address or name. Read-only.
    pub fn existing(
        host: &HostName,
        address: Option<Ipv4Addr>,
        interface: Option<&DeviceName>,
    ) -> Result<(Self, FoundInterface), FindError> {
        existing::find(host, address, interface)
    }

    /// The tap device of a guest, for its monitor; `None` if the lab has no such guest.
    pub fn tap(&self, guest: &HostName) -> Option<std::io::Result<Tap>> {
        let nic = link::nic_of(&self.links, guest)?;
        let queues = self.taps.get(&nic.port)?.iter().map(std::fs::File::try_clone).collect();
        let mac = link::mac_of_guest(nic.address.addr());
        Some(std::io::Result::map(queues, |queues| Tap { queues, at: nic.port.clone(), mac }))
    }

    /// Parts that the kernel does not support.
    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Whether it is a device of this lab that was created or found.
    #[must_use]
    pub fn has(&self, at: &DeviceRef) -> bool {
        self.devices().any(|device| device.at == *at)
    }

    /// The namespace of the device with this address.
    #[must_use]
    pub fn namespace_of(&self, address: Ipv4Addr) -> Option<&NetNs> {
        let mut devices = self.links.iter().flat_map(Link::devices);
        let device = devices.find(|device| {
            device.address.is_some_and(|has| has.addr() == address)
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

    /// Applies settings to devices and reads them back. Devices without an entry, and settings that are `None`, are
    /// reset to their values at creation. Missing devices are skipped.
    pub fn configure(&self, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Result<(), ConfigureError> {
        let settings = configure::settings_of_existing(settings, &self.missing);
        configure::configure(&self.namespaces, &self.devices, &mut self.lock(), &settings)
    }

    /// The states of these devices, in this order.
    pub fn device_states(&self, devices: &[DeviceRef]) -> Result<Vec<DeviceState>, ReadError> {
        let _lock = self.lock();
        read_back::states(&self.namespaces, &self.devices, devices)
    }

    /// All created devices of the lab, by host.
    pub fn devices(&self) -> impl Iterator<Item = PresentDevice> {
        let is_missing = |at: &DeviceRef| self.missing.iter().any(|missing| missing.devices.contains(at));
        self.devices.all().filter(move |device| !is_missing(&device.at)).filter_map(|device| {
            let namespace = self.namespaces.get(&device.at.host)?.inode();
            Some(PresentDevice { at: device.at.clone(), kind: device.kind, namespace, index: device.index })
        })
    }

    /// Reads the counters of these devices, and of hosts with NAT on their path.
    pub fn reading(&self, devices: &[DeviceRef]) -> Result<PathCounters, ReadError> {
        let _lock = self.lock();
        path_counters::read(&self.namespaces, &self.devices, &self.gateways, devices)
    }

    fn lock(&self) -> MutexGuard<'_, Originals> {
        // A panic leaves no inconsistent state: originals are recorded before changes.
        self.originals.lock().unwrap_or_else(PoisonError::into_inner)
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

//! The lab as it stands: what can be asked of it between raising it and letting go of it.
//!
//! Calls block and may come from any thread, but not from within an async runtime. Dropping the value closes
//! the last descriptors of the namespaces, and with them goes everything in them.

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

/// A raised lab.
pub struct Topology {
    pub(crate) namespaces: Namespaces,
    pub(crate) devices: Devices,
    pub(crate) gateways: Vec<Gateway>,
    pub(crate) links: Vec<Link>,
    pub(crate) taps: Taps,
    pub(crate) missing: Vec<Missing>,
    /// Held through every conversation with the kernel: a socket serves one at a time.
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

/// Where a device of a lab is, in the kernel's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentDevice {
    pub at: DeviceRef,
    pub kind: DeviceKind,
    /// The inode of its host's network namespace (nsfs).
    pub namespace: u64,
    /// Its number in it.
    pub index: u32,
}

impl Topology {
    /// Raises `lab` in namespaces of its own and verifies it by reading back. What the kernel lacks is left
    /// out and told by [`Topology::missing`].
    pub fn raise(lab: &Lab) -> Result<Self, CreateError> {
        create::raise(lab)
    }

    /// Gives the devices of the guest that this process runs in what `lab` says of `host`, and verifies it by reading
    /// back; they are found by their MAC addresses. Of a host that exists already, in whose own namespace the calling thread is,
    /// it makes what is on it, in namespaces that go with this value.
    pub fn inside(lab: &Lab, host: &HostName) -> Result<Self, CreateError> {
        create::inside(&lab.inside(host), host)
    }

    /// The device by which `host`, which exists already and which this process is on, sends and receives: the one with that
    /// address or name. It can be read, and nothing of it is set.
    pub fn existing(
        host: &HostName,
        address: Option<Ipv4Addr>,
        interface: Option<&DeviceName>,
    ) -> Result<(Self, FoundInterface), FindError> {
        existing::find(host, address, interface)
    }

    /// The tap device of a guest, for its monitor; `None` where the lab has no such guest.
    pub fn tap(&self, guest: &HostName) -> Option<std::io::Result<Tap>> {
        let nic = link::nic_of(&self.links, guest)?;
        let queues = self.taps.get(&nic.port)?.iter().map(std::fs::File::try_clone).collect();
        let mac = link::mac_of_guest(nic.address.addr());
        Some(std::io::Result::map(queues, |queues| Tap { queues, at: nic.port.clone(), mac }))
    }

    /// What could not be raised because the kernel lacks it.
    #[must_use]
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Whether it is a device of this lab that was made or found here.
    #[must_use]
    pub fn has(&self, at: &DeviceRef) -> bool {
        self.devices().any(|device| device.at == *at)
    }

    /// The namespace in which a device of the lab has this address.
    #[must_use]
    pub fn namespace_of(&self, address: Ipv4Addr) -> Option<&NetNs> {
        let mut devices = self.links.iter().flat_map(Link::devices);
        let device = devices.find(|device| {
            device.address.is_some_and(|has| has.addr() == address)
                && self.namespaces.get(&device.at.host).is_some()
        })?;
        self.namespaces.get(&device.at.host)
    }

    /// The namespace of a host.
    #[must_use]
    pub fn namespace(&self, host: &HostName) -> Option<&NetNs> {
        self.namespaces.get(host)
    }

    pub fn namespaces(&self) -> impl Iterator<Item = (&HostName, &NetNs)> {
        self.namespaces.iter()
    }

    /// Gives every device these settings, and reads them back. A device without an entry, and a setting that
    /// is `None`, go back to what they were when the device was made. Devices that are missing are passed over.
    pub fn configure(&self, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Result<(), ConfigureError> {
        let settings = configure::of_standing(settings, &self.missing);
        configure::configure(&self.namespaces, &self.devices, &mut self.turn(), &settings)
    }

    /// The state of these devices, in this order.
    pub fn device_states(&self, devices: &[DeviceRef]) -> Result<Vec<DeviceState>, ReadError> {
        let _turn = self.turn();
        read_back::states(&self.namespaces, &self.devices, devices)
    }

    /// Every device of the lab that could be made, by host.
    pub fn devices(&self) -> impl Iterator<Item = PresentDevice> {
        let is_missing = |at: &DeviceRef| self.missing.iter().any(|missing| missing.devices.contains(at));
        self.devices.all().filter(move |device| !is_missing(&device.at)).filter_map(|device| {
            let namespace = self.namespaces.get(&device.at.host)?.inode();
            Some(PresentDevice { at: device.at.clone(), kind: device.kind, namespace, index: device.index })
        })
    }

    /// What these devices, and the hosts that translate addresses on their path, have counted so far.
    pub fn reading(&self, devices: &[DeviceRef]) -> Result<PathCounters, ReadError> {
        let _turn = self.turn();
        path_counters::read(&self.namespaces, &self.devices, &self.gateways, devices)
    }

    fn turn(&self) -> MutexGuard<'_, Originals> {
        // Nothing half-done outlives a panic: what is remembered is remembered before it is changed.
        self.originals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topology_may_be_used_from_any_thread() {
        fn may<T: Send + Sync>() {}
        may::<Topology>();
    }
}

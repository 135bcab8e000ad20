//! A network for a single guest that no scenario describes: its device, and the tap device that is the other side of it,
//! in a namespace of its own. Must not know what the guest is for.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use machine::{FirecrackerError, MachineError, NamedTap, Nic};
use samples::DeviceState;
use scenario::{DeviceName, DeviceRef, Host, HostKind, HostName, Lab, Vm};
use topology::Topology;

use crate::{agents::Agents, error::RunError, lab_handle::LabHandle};

/// The namespace of the tap device.
const OUTSIDE: &str = "host";
/// The device in the guest.
const DEVICE: &str = "eth0";
/// Its address, in the range for benchmarks.
const ADDRESS: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(198, 18, 64, 1), 24);

/// A network that stands for one guest, and is gone when this is dropped.
#[derive(Debug)]
pub struct GuestNetwork {
    guest: HostName,
    lab: Lab,
    topology: Topology,
}

impl GuestNetwork {
    /// Raises it for `guest`, which will be the machine `vm`; `mtu` is that of its device in bytes of IP packet.
    ///
    /// # Errors
    /// When the kernel refuses, or lacks what it takes.
    pub fn raise(guest: &HostName, vm: &Vm, mtu: u32) -> Result<Self, RunError> {
        if let Some(because) = Nic::lacks_vhost().filter(|_| vm.vhost) {
            return Err(RunError::Lacks { because: format!("vhost-net does not work: {because}") });
        }
        let lab = lab(guest, vm, mtu);
        let topology = Topology::raise(&lab)?;
        match topology.missing().first() {
            Some(missing) => Err(RunError::Lacks { because: missing.to_string() }),
            None => Ok(Self { guest: guest.clone(), lab, topology }),
        }
    }

    /// The guest's device, for its machine.
    ///
    /// # Errors
    /// When this process may open no more descriptors.
    pub fn nic(&self) -> Result<Nic, RunError> {
        let tap = self.topology.tap(&self.guest).expect("the lab has this guest");
        let tap =
            tap.map_err(|error| MachineError::Qemu { host: self.guest.to_string(), source: error.into() })?;
        Ok(Nic { queues: tap.queues, mac: tap.mac })
    }

    /// The tap device, for a machine whose monitor opens it by its name.
    ///
    /// # Errors
    /// When this process may open no more descriptors.
    pub fn named_tap(&self) -> Result<NamedTap, RunError> {
        let refused =
            |source: FirecrackerError| MachineError::Firecracker { host: self.guest.to_string(), source };
        let tap = self.topology.tap(&self.guest).expect("the lab has this guest");
        let tap = tap.map_err(|error| refused(error.into()))?;
        let namespace = self.topology.namespace(&tap.at.host).expect("the tap device is in it");
        let namespace = namespace.try_clone().map_err(|error| refused(error.into()))?;
        Ok(NamedTap { device: tap.at.device.to_string(), namespace, mac: tap.mac })
    }

    /// Has the guest's agent give its device what it is to have; says what its kernel and ours then have: of the device,
    /// and of the tap device.
    pub(crate) fn dressed(&self, agents: &mut Agents) -> Result<Vec<DeviceState>, RunError> {
        let ground = LabHandle { lab: &self.lab, topology: &self.topology };
        ground.dress_guests(agents)?;
        let devices: Vec<DeviceRef> = self.lab.link_devices().map(|device| device.at.clone()).collect();
        Ok(ground.states(agents, &[&devices])?.remove(0))
    }
}

fn lab(guest: &HostName, vm: &Vm, mtu: u32) -> Lab {
    let guest_host = Host { vm: Some(vm.clone()), ..Host::new(guest.as_str(), HostKind::Guest) };
    let nic = scenario::link::Nic {
        name: guest.to_string(),
        at: DeviceRef { host: guest.clone(), device: DeviceName::new(DEVICE) },
        port: DeviceRef::new(OUTSIDE, guest.as_str()),
        address: ADDRESS,
        mtu,
        queues: vm.queues,
    };
    Lab {
        hosts: vec![Host::new(OUTSIDE, HostKind::Host), guest_host],
        links: vec![nic.into()],
        ..Lab::default()
    }
}

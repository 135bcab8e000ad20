//! Creates a network for a single guest that is not part of a scenario.

use std::net::IpAddr;

use ipnet::IpNet;
use machine::{FirecrackerError, MachineError, NamedTap, Nic};
use samples::DeviceState;
use scenario::{DeviceName, DeviceRef, Host, HostKind, HostName, Lab, Vm};
use topology::Topology;

use crate::{agents::Agents, error::RunError, lab_handle::LabHandle};

const OUTSIDE: &str = "host";
const DEVICE: &str = "eth0";

#[derive(Debug)]
pub struct GuestNetwork {
    guest: HostName,
    lab: Lab,
    topology: Topology,
}

impl GuestNetwork {
    pub fn create(guest: &HostName, vm: &Vm, mtu: u32) -> Result<Self, RunError> {
        if let Some(reason) = Nic::lacks_vhost().filter(|_| vm.vhost) {
            return Err(RunError::Lacks { reason: format!("vhost-net is unavailable: {reason}") });
        }
        let lab = lab(guest, vm, mtu);
        let topology = Topology::create(&lab)?;
        match topology.missing().first() {
            Some(missing) => Err(RunError::Lacks { reason: missing.to_string() }),
            None => Ok(Self { guest: guest.clone(), lab, topology }),
        }
    }

    pub fn nic(&self) -> Result<Nic, RunError> {
        let tap = self.topology.tap(&self.guest).expect("the guest is in the lab");
        let tap =
            tap.map_err(|error| MachineError::Qemu { host: self.guest.to_string(), source: error.into() })?;
        Ok(Nic { queues: tap.queues, mac: tap.mac })
    }

    pub fn named_tap(&self) -> Result<NamedTap, RunError> {
        let refused =
            |source: FirecrackerError| MachineError::Firecracker { host: self.guest.to_string(), source };
        let tap = self.topology.tap(&self.guest).expect("the guest is in the lab");
        let tap = tap.map_err(|error| refused(error.into()))?;
        let namespace = self.topology.namespace(&tap.at.host).expect("the tap device is in it");
        let namespace = namespace.try_clone().map_err(|error| refused(error.into()))?;
        Ok(NamedTap { device: tap.at.device.to_string(), namespace, mac: tap.mac })
    }

    pub(crate) fn configured(&self, agents: &mut Agents) -> Result<Vec<DeviceState>, RunError> {
        let lab_handle = LabHandle { lab: &self.lab, topology: &self.topology, between: None };
        lab_handle.configure_guests(agents)?;
        let devices: Vec<DeviceRef> = self.lab.link_devices().map(|device| device.at.clone()).collect();
        Ok(lab_handle.states(agents, &[&devices])?.remove(0))
    }
}

fn lab(guest: &HostName, vm: &Vm, mtu: u32) -> Lab {
    let guest_host = Host { vm: Some(vm.clone()), ..Host::new(guest.as_str(), HostKind::Guest) };
    let nic = scenario::link::Nic {
        name: guest.to_string(),
        at: DeviceRef { host: guest.clone(), device: DeviceName::new(DEVICE) },
        port: DeviceRef::new(OUTSIDE, guest.as_str()),
        address: IpNet::new_assert(IpAddr::from([198, 18, 64, 1]), 24),
        mtu,
        queues: vm.queues,
    };
    Lab {
        hosts: vec![Host::new(OUTSIDE, HostKind::Host), guest_host],
        links: vec![nic.into()],
        ..Lab::default()
    }
}

//! Network devices of virtual machines: virtio in the guest, a tap device where its bridge is. They are written as guests.

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use super::{Layer, Link, LinkDevice, LinkKind, Way};
use crate::{
    check::{Fits, Misfit},
    lab::{Lab, MTUS},
    names::{DeviceRef, HostName},
};

/// The most that a tap device takes: 65535 less the header of Ethernet (tun_net_initialize in drivers/net/tun.c).
const MOST_OF_TAP: u32 = *MTUS.end() - 14;

/// The network device of a virtual machine: virtio in the guest, a tap device where its bridge is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    /// The guest's name.
    pub name: String,
    /// The device in the guest.
    pub at: DeviceRef,
    /// The tap device, the bridge's port.
    pub port: DeviceRef,
    /// The guest's address.
    pub address: Ipv4Net,
    /// The MTU of both, in bytes of IP packet.
    pub mtu: u32,
    /// Queues of each direction that it is made with.
    pub queues: u32,
}

impl From<Nic> for Link {
    fn from(nic: Nic) -> Self {
        Self::Nic(nic)
    }
}

/// Has the guest's device at `at` made with `queues`.
pub(crate) fn set_queues(lab: &mut Lab, at: &DeviceRef, queues: u32) {
    for link in &mut lab.links {
        if let Link::Nic(nic) = link
            && nic.at == *at
        {
            nic.queues = queues;
        }
    }
}

impl LinkKind for Nic {
    fn name(&self) -> &str {
        &self.name
    }

    fn layer(&self) -> Layer {
        Layer::Virtio
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        let device = |at, address| LinkDevice { at, mtu: self.mtu, address, over: None };
        vec![device(&self.at, Some(self.address)), device(&self.port, None)]
    }

    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>> {
        vec![Way::In(if *out == self.at { &self.port } else { &self.at })]
    }

    fn is_inside(&self, host: &HostName) -> bool {
        self.at.host == *host
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        let Some(mtu) = mtus.of(&self.port).filter(|mtu| *mtu > MOST_OF_TAP) else { return Vec::new() };
        let message = format!(
            "`{}` has MTU {mtu}, but is the tap device of a virtual machine: {MOST_OF_TAP} is its most",
            self.port
        );
        let help = format!("take {MOST_OF_TAP} or less for the guest and all that is on its bridge");
        vec![Misfit { blamed: self.port.clone(), message, help }]
    }
}

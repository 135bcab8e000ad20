//! Network devices of virtual machines: virtio in the guest, backed by a tap device on the host.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::{Layer, Link, LinkDevice, LinkKind, Way};
use crate::{
    check::{Fits, Misfit},
    lab::{Lab, MTUS},
    names::{DeviceRef, HostName},
};

/// The maximum MTU of a tap device: 65535 minus the Ethernet header (tun_net_initialize in drivers/net/tun.c).
const MOST_OF_TAP: u32 = *MTUS.end() - 14;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    pub name: String,
    pub at: DeviceRef,
    pub port: DeviceRef,
    pub address: IpNet,
    pub mtu: u32,
    pub queues: u32,
}

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

    fn layers(&self) -> Vec<Layer> {
        vec![Layer::Virtio]
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
            "`{}` has MTU {mtu}, but a tap device of a virtual machine supports at most {MOST_OF_TAP}",
            self.port
        );
        let help = format!("use an MTU of at most {MOST_OF_TAP} for the guest and everything on its bridge");
        vec![Misfit { blamed: self.port.clone(), message, help }]
    }
}

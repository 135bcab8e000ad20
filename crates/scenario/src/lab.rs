//! The lab as meant: hosts and what connects them, every name resolved and every default filled in.
//!
//! This is what `topology` raises. It says nothing of how (netlink, taps) and nothing of traffic.

mod settings;

use std::{collections::BTreeMap, net::Ipv4Addr};

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

pub use settings::{DeviceSettingKind, DeviceSettings, Offloads, of_host};
pub(crate) use settings::{MTUS, make_room};

use crate::{
    existing_host::ExistingHost,
    link::{Link, LinkDevice},
    names::{DeviceName, DeviceRef, HostName},
    vm::Vm,
};

/// A lab: all that has to stand before traffic can flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lab {
    /// Every host, in the order of the document; guests and pods after the hosts.
    pub hosts: Vec<Host>,
    /// What connects them.
    pub links: Vec<Link>,
    /// Egress gateways: a policy route into a tunnel and a source translation at its end.
    pub gateways: Vec<Gateway>,
    /// Static routes.
    pub routes: Vec<Route>,
    /// Settings of devices, for every device that has any; a device without an entry keeps the kernel's.
    pub devices: BTreeMap<DeviceRef, DeviceSettings>,
}

impl Lab {
    /// The host of that name.
    #[must_use]
    pub fn host(&self, name: &HostName) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == *name)
    }

    /// Every address and its device, as assigned by links.
    pub fn addresses(&self) -> impl Iterator<Item = (&DeviceRef, Ipv4Net)> {
        self.link_devices().filter_map(|device| Some((device.at, device.address?)))
    }

    /// Every device that a link makes.
    pub fn link_devices(&self) -> impl Iterator<Item = LinkDevice<'_>> {
        self.links.iter().flat_map(Link::devices)
    }

    /// The virtual machine that a host is; `None` for one that is a namespace.
    #[must_use]
    pub fn vm(&self, host: &HostName) -> Option<&Vm> {
        self.host(host)?.vm.as_ref()
    }

    /// How a host is reached that exists already; `None` for one that is made.
    #[must_use]
    pub fn existing(&self, host: &HostName) -> Option<&ExistingHost> {
        self.host(host)?.existing.as_ref()
    }

    /// Whether a host has a kernel that is not this machine's.
    #[must_use]
    pub fn has_own_kernel(&self, host: &HostName) -> bool {
        self.vm(host).is_some() || self.existing(host).is_some_and(|existing| !existing.is_local())
    }

    /// The part of the lab that this machine's kernel makes: everything but the insides of virtual machines and hosts that
    /// exist already.
    #[must_use]
    pub fn outside(&self) -> Self {
        let outside = |host: &HostName| self.vm(host).is_none() && self.existing(host).is_none();
        let mut lab = self.clone();
        lab.hosts.retain(|host| host.vm.is_none() && host.existing.is_none());
        lab.routes.retain(|route| outside(&route.host));
        lab.devices.retain(|at, _| outside(&at.host));
        lab
    }

    /// The part of the lab that the kernel of a virtual machine's guest makes: its own devices, addresses and routes.
    #[must_use]
    pub fn inside(&self, host: &HostName) -> Self {
        Self {
            hosts: self.hosts.iter().filter(|known| known.name == *host).cloned().collect(),
            links: self.links.iter().filter(|link| link.is_inside(host)).cloned().collect(),
            gateways: Vec::new(),
            routes: self.routes.iter().filter(|route| route.host == *host).cloned().collect(),
            devices: of_host(&self.devices, host),
        }
    }

    /// The MTU of a device under `settings`, in bytes of IP packet; `None` if the lab has no such device.
    #[must_use]
    pub fn mtu(&self, device: &DeviceRef, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Option<u32> {
        let existing = || self.existing(&device.host)?.mtu;
        let made =
            self.link_devices().find(|made| made.at == device).map(|made| made.mtu).or_else(existing)?;
        Some(settings.get(device).and_then(|settings| settings.mtu).unwrap_or(made))
    }
}

/// What a host stands for. The kind changes no setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostKind {
    /// A node, hypervisor, router or switch.
    Host,
    /// A guest behind a bridge.
    Guest,
    /// A pod behind a bridge.
    Pod,
}

/// A host of the lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub name: HostName,
    /// What it stands for.
    pub kind: HostKind,
    /// Whether it forwards packets between its devices; set where a route or gateway needs it.
    pub forwards: bool,
    /// The virtual machine that it is; `None` for a namespace.
    #[serde(default)]
    pub vm: Option<Vm>,
    /// How it is reached, if it exists already and nothing of it is made.
    #[serde(default)]
    pub existing: Option<ExistingHost>,
}

impl Host {
    /// A namespace that forwards nothing.
    pub fn new(name: impl Into<String>, kind: HostKind) -> Self {
        Self { name: HostName::new(name), kind, forwards: false, vm: None, existing: None }
    }
}

/// An egress gateway: traffic of `sources` at `node` is routed through a tunnel to `egress`, and leaves from
/// there with the egress address as its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Its name in the scenario.
    pub name: String,
    /// The node whose pods' traffic is diverted.
    pub node: HostName,
    /// Whose traffic: matched by a policy rule on the source address.
    pub sources: Ipv4Net,
    /// What traffic: only destinations inside this prefix are diverted.
    pub destinations: Ipv4Net,
    /// The tunnel's device at the node.
    pub tunnel: DeviceName,
    /// The egress host's address inside the tunnel: the next hop.
    pub next_hop: Ipv4Addr,
    /// The routing table that holds the diverting route at the node; unique per gateway.
    pub table: u32,
    /// The host where traffic leaves.
    pub egress: HostName,
    /// The device it leaves by.
    pub egress_device: DeviceName,
    /// The source address that it gets there; an address of its own on the egress device.
    pub egress_address: Ipv4Addr,
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Whose routing table.
    pub host: HostName,
    /// Which destinations; `0.0.0.0/0` is the default route.
    pub to: Ipv4Net,
    /// The next hop, an address that the host reaches directly.
    pub via: Ipv4Addr,
}

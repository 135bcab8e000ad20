//! The lab as meant: hosts and what connects them, every name resolved and every default filled in.
//!
//! This is what `topology` raises. It says nothing of how (netlink, taps) and nothing of traffic.

mod settings;

use std::{collections::BTreeMap, net::Ipv4Addr};

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};

use settings::of_host;
pub use settings::{DeviceSettingKind, DeviceSettings, Offloads};
pub(crate) use settings::{MTUS, make_room};

use crate::{
    check::misfits,
    existing_host::ExistingHost,
    link::{Link, LinkDevice},
    names::{DeviceName, DeviceRef, HostName},
    vm::Vm,
};

/// Stands for the MTU of a device that follows from what a host has yet to tell.
pub(crate) const UNTOLD_MTU: u32 = 0;

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

    /// The host that exists already which `host` is, or is made on.
    #[must_use]
    pub fn seat(&self, host: &HostName) -> Option<&HostName> {
        let host = self.host(host)?;
        host.existing.as_ref().map(|_| &host.name).or(host.on.as_ref())
    }

    /// Whether a host is another machine, or made on one, which is not this machine's guest.
    #[must_use]
    pub fn is_remote(&self, host: &HostName) -> bool {
        self.seat(host).and_then(|seat| self.existing(seat)).is_some_and(|existing| !existing.is_local())
    }

    /// Whether a host has a kernel that is not this machine's.
    #[must_use]
    pub fn has_own_kernel(&self, host: &HostName) -> bool {
        self.vm(host).is_some() || self.is_remote(host)
    }

    /// The part of the lab that this machine's kernel makes in namespaces of the run: everything but the insides of virtual
    /// machines and what is on hosts that exist already.
    #[must_use]
    pub fn outside(&self) -> Self {
        let outside = |host: &HostName| self.vm(host).is_none() && self.seat(host).is_none();
        let mut lab = self.clone();
        lab.hosts.retain(|host| outside(&host.name));
        lab.links.retain(|link| !self.is_seated(link));
        lab.routes.retain(|route| outside(&route.host));
        lab.devices.retain(|at, _| outside(&at.host));
        lab
    }

    /// Whether the link is made on hosts that exist already.
    fn is_seated(&self, link: &Link) -> bool {
        link.devices().iter().any(|device| self.seat(&device.at.host).is_some())
    }

    /// The part of the lab that the agent of `host` has made. In a virtual machine that is its own devices, addresses and
    /// routes; of a host that exists already it is what is on all such hosts, since each end of a tunnel knows the others'.
    #[must_use]
    pub fn inside(&self, host: &HostName) -> Self {
        if self.existing(host).is_some() {
            let seated = |host: &HostName| self.seat(host).is_some();
            return Self {
                hosts: self.hosts.iter().filter(|host| seated(&host.name)).cloned().collect(),
                links: self.links.iter().filter(|link| self.is_seated(link)).cloned().collect(),
                gateways: Vec::new(),
                routes: self.routes.iter().filter(|route| seated(&route.host)).cloned().collect(),
                devices: self
                    .devices
                    .clone()
                    .into_iter()
                    .filter(|(at, _)| self.is_made_on(at, host))
                    .collect(),
            };
        }
        Self {
            hosts: self.hosts.iter().filter(|known| known.name == *host).cloned().collect(),
            links: self.links.iter().filter(|link| link.is_inside(host)).cloned().collect(),
            gateways: Vec::new(),
            routes: self.routes.iter().filter(|route| route.host == *host).cloned().collect(),
            devices: of_host(&self.devices, host),
        }
    }

    /// Whether the device is made on `host`, which exists already: none of its own.
    #[must_use]
    pub fn is_made_on(&self, at: &DeviceRef, host: &HostName) -> bool {
        self.seat(&at.host) == Some(host) && self.link_devices().any(|made| made.at == at)
    }

    /// Has links take over what hosts that exist already have told of their own devices: tunnels first, then what stands on
    /// them, and what is behind that.
    pub fn locate(&mut self) {
        const LEVELS: usize = 3;
        for _ in 0..LEVELS {
            let told = self.clone();
            self.links.iter_mut().for_each(|link| link.locate(&told));
        }
    }

    /// What does not fit together of MTUs under `settings`, and what to do, if anything does not.
    #[must_use]
    pub fn mtu_misfit(&self, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Option<(DeviceRef, String)> {
        let misfit = misfits(self, settings).into_iter().next()?;
        Some((misfit.blamed, format!("{}; {}", misfit.message, misfit.help)))
    }

    /// The MTU of a device under `settings`, in bytes of IP packet; `None` if the lab has no such device, or a host has yet to
    /// tell.
    #[must_use]
    pub fn mtu(&self, device: &DeviceRef, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Option<u32> {
        let existing = || self.existing(&device.host)?.mtu;
        let made =
            self.link_devices().find(|made| made.at == device).map(|made| made.mtu).or_else(existing)?;
        let mtu = settings.get(device).and_then(|settings| settings.mtu).unwrap_or(made);
        (mtu != UNTOLD_MTU).then_some(mtu)
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
    /// How it is reached, if it exists already. What is made on it is in a namespace beside its own.
    #[serde(default)]
    pub existing: Option<ExistingHost>,
    /// The host that exists already on which it is made; `None` of one that is made on this machine, or exists itself.
    #[serde(default)]
    pub on: Option<HostName>,
}

impl Host {
    /// A namespace that forwards nothing.
    pub fn new(name: impl Into<String>, kind: HostKind) -> Self {
        Self { name: HostName::new(name), kind, forwards: false, vm: None, existing: None, on: None }
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

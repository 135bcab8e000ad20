//! The lab, with all names resolved and defaults filled in. `topology` creates it.

mod settings;

use std::{collections::BTreeMap, net::IpAddr};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use settings::settings_of_host;
pub use settings::{DeviceSettingKind, DeviceSettings, Offloads};
pub(crate) use settings::{MTUS, make_room};

use crate::{
    check::misfits,
    existing_host::ExistingHost,
    family::Family,
    link::{Link, LinkDevice},
    names::{DeviceName, DeviceRef, HostName},
    vm::Vm,
};

/// Placeholder for an MTU that an existing host has not reported yet.
pub(crate) const UNKNOWN_MTU: u32 = 0;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lab {
    pub hosts: Vec<Host>,
    pub links: Vec<Link>,
    pub gateways: Vec<Gateway>,
    pub routes: Vec<Route>,
    /// Devices without an entry keep the kernel's defaults.
    pub devices: BTreeMap<DeviceRef, DeviceSettings>,
    /// If set, each address, route and gateway also exists in this family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_family: Option<Family>,
}

impl Lab {
    #[must_use]
    pub fn host(&self, name: &HostName) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == *name)
    }

    pub fn addresses(&self) -> impl Iterator<Item = (&DeviceRef, IpNet)> {
        self.link_devices().filter_map(|device| Some((device.at, device.address?)))
    }

    pub fn all_addresses(&self) -> impl Iterator<Item = (&DeviceRef, IpNet)> {
        let second = |(at, net): (_, IpNet)| Some((at, self.second_to(net.addr())?.network(net)?));
        self.addresses().chain(self.addresses().filter_map(second))
    }

    pub fn all_routes(&self) -> impl Iterator<Item = Route> {
        let second = |route: &Route| route.in_family(self.second_to(route.via)?);
        self.routes.iter().cloned().chain(self.routes.iter().filter_map(second))
    }

    pub fn all_gateways(&self) -> impl Iterator<Item = Gateway> {
        let second = |gateway: &Gateway| gateway.in_family(self.second_to(gateway.next_hop)?);
        self.gateways.iter().cloned().chain(self.gateways.iter().filter_map(second))
    }

    fn second_to(&self, address: IpAddr) -> Option<Family> {
        self.second_family.filter(|second| *second != Family::of(address))
    }

    #[must_use]
    pub fn has_ipv6(&self) -> bool {
        self.all_addresses().any(|(_, address)| address.addr().is_ipv6())
    }

    pub fn link_devices(&self) -> impl Iterator<Item = LinkDevice<'_>> {
        self.links.iter().flat_map(Link::devices)
    }

    #[must_use]
    pub fn vm(&self, host: &HostName) -> Option<&Vm> {
        self.host(host)?.vm.as_ref()
    }

    #[must_use]
    pub fn existing(&self, host: &HostName) -> Option<&ExistingHost> {
        self.host(host)?.existing.as_ref()
    }

    #[must_use]
    pub fn seat(&self, host: &HostName) -> Option<&HostName> {
        let host = self.host(host)?;
        host.existing.as_ref().map(|_| &host.name).or(host.on.as_ref())
    }

    /// Virtual machines on this machine are not remote.
    #[must_use]
    pub fn is_remote(&self, host: &HostName) -> bool {
        self.seat(host)
            .and_then(|seat| self.existing(seat))
            .is_some_and(|existing| !existing.is_on_this_machine())
    }

    #[must_use]
    pub fn has_own_kernel(&self, host: &HostName) -> bool {
        self.vm(host).is_some() || self.is_remote(host)
    }

    #[must_use]
    pub fn outside(&self) -> Self {
        let outside = |host: &HostName| self.vm(host).is_none() && self.seat(host).is_none();
        let mut lab = self.clone();
        lab.hosts.retain(|host| outside(&host.name));
        lab.links.retain(|link| !self.is_on_existing_host(link));
        lab.routes.retain(|route| outside(&route.host));
        lab.devices.retain(|at, _| outside(&at.host));
        lab
    }

    fn is_on_existing_host(&self, link: &Link) -> bool {
        link.devices().iter().any(|device| self.seat(&device.at.host).is_some())
    }

    /// Returns the part of the lab that the agent on `host` creates. An existing host gets the parts of all existing
    /// hosts, because each end of a tunnel needs the address of the other end.
    #[must_use]
    pub fn inside(&self, host: &HostName) -> Self {
        if self.existing(host).is_some() {
            let on_existing = |host: &HostName| self.seat(host).is_some();
            return Self {
                hosts: self.hosts.iter().filter(|host| on_existing(&host.name)).cloned().collect(),
                links: self.links.iter().filter(|link| self.is_on_existing_host(link)).cloned().collect(),
                gateways: Vec::new(),
                routes: self.routes.iter().filter(|route| on_existing(&route.host)).cloned().collect(),
                devices: self
                    .devices
                    .clone()
                    .into_iter()
                    .filter(|(at, _)| self.is_made_on(at, host))
                    .collect(),
                second_family: self.second_family,
            };
        }
        Self {
            hosts: self.hosts.iter().filter(|known| known.name == *host).cloned().collect(),
            links: self.links.iter().filter(|link| link.is_inside(host)).cloned().collect(),
            gateways: Vec::new(),
            routes: self.routes.iter().filter(|route| route.host == *host).cloned().collect(),
            devices: settings_of_host(&self.devices, host),
            second_family: self.second_family,
        }
    }

    #[must_use]
    pub fn is_made_on(&self, at: &DeviceRef, host: &HostName) -> bool {
        self.seat(&at.host) == Some(host) && self.link_devices().any(|device| device.at == at)
    }

    /// Fills in the values reported by existing hosts. Each iteration reaches the next layer of devices,
    /// starting with the tunnels.
    pub fn locate(&mut self) {
        const LEVELS: usize = 3;
        for _ in 0..LEVELS {
            let snapshot = self.clone();
            self.links.iter_mut().for_each(|link| link.locate(&snapshot));
        }
    }

    #[must_use]
    pub fn mtu_misfit(&self, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Option<(DeviceRef, String)> {
        let misfit = misfits(self, settings).into_iter().next()?;
        Some((misfit.blamed, format!("{}; {}", misfit.message, misfit.help)))
    }

    #[must_use]
    pub fn mtu(&self, device: &DeviceRef, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Option<u32> {
        let existing = || self.existing(&device.host)?.mtu;
        let created = self
            .link_devices()
            .find(|created| created.at == device)
            .map(|created| created.mtu)
            .or_else(existing)?;
        let mtu = settings.get(device).and_then(|settings| settings.mtu).unwrap_or(created);
        (mtu != UNKNOWN_MTU).then_some(mtu)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostKind {
    Host,
    Guest,
    Pod,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub name: HostName,
    pub kind: HostKind,
    pub forwards: bool,
    #[serde(default)]
    pub vm: Option<Vm>,
    #[serde(default)]
    pub existing: Option<ExistingHost>,
    #[serde(default)]
    pub on: Option<HostName>,
}

impl Host {
    pub fn new(name: impl Into<String>, kind: HostKind) -> Self {
        Self { name: HostName::new(name), kind, forwards: false, vm: None, existing: None, on: None }
    }
}

/// An egress gateway. Traffic from `sources` on `node` is routed through a tunnel to `egress`, where it leaves with
/// the egress address as its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    pub name: String,
    pub node: HostName,
    pub sources: IpNet,
    pub destinations: IpNet,
    pub tunnel: DeviceName,
    pub next_hop: IpAddr,
    pub table: u32,
    pub egress: HostName,
    pub egress_device: DeviceName,
    pub egress_address: IpAddr,
}

impl Gateway {
    fn in_family(&self, family: Family) -> Option<Self> {
        Some(Self {
            sources: family.network(self.sources)?,
            destinations: family.network(self.destinations)?,
            next_hop: family.address(self.next_hop)?,
            egress_address: family.address(self.egress_address)?,
            ..self.clone()
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    pub host: HostName,
    pub to: IpNet,
    pub via: IpAddr,
}

impl Route {
    fn in_family(&self, family: Family) -> Option<Self> {
        let (to, via) = (family.network(self.to)?, family.address(self.via)?);
        Some(Self { host: self.host.clone(), to, via })
    }
}

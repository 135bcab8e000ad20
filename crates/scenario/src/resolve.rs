//! The lab of a document, with every default filled in: as written to as meant. What a name does not resolve to is left
//! out here and reported by the checks. Must not judge.

mod device;
mod mtu;
mod vm;

use std::{collections::BTreeMap, net::Ipv4Addr, ops::Range};

use ipnet::Ipv4Net;

use crate::{
    document::{BridgeTable, Document, Entry, GatewayTable, GuestTable, VxlanTable, WireTable},
    lab::{
        Bridge, DeviceSettingKind, DeviceSettings, Forwarding, Gateway, Host, HostKind, Lab, Link, LinkEnd,
        LinkRole, Nic, Route, Vxlan, VxlanMember,
    },
    names::{DeviceName, DeviceRef, HostName},
    vm::Vm,
};
pub(crate) use device::device_settings;
pub(crate) use mtu::ENCAPSULATION;
use mtu::Mtus;
pub(crate) use vm::vm;

/// The routing table of the first gateway's diverting route; the kernel's own are 253 to 255.
const FIRST_TABLE: u32 = 1000;

/// The device of a guest or pod.
pub(crate) const GUEST_DEVICE: &str = "eth0";

/// A lab and where in the document its parts stand.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The lab.
    pub(crate) lab: Lab,
    /// The places.
    pub(crate) places: Places,
}

/// Where devices and addresses are given.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Every device and what makes it; twice where two things make it.
    pub(crate) devices: Vec<(DeviceRef, Range<usize>)>,
    /// Every address.
    pub(crate) addresses: Vec<(DeviceRef, Ipv4Net, Range<usize>)>,
    /// What decides the MTU of a device, where the document says it.
    pub(crate) mtus: BTreeMap<DeviceRef, Range<usize>>,
}

impl Places {
    /// Whether something makes the device.
    pub(crate) fn has(&self, device: &DeviceRef) -> bool {
        self.devices.iter().any(|(at, _)| at == device)
    }

    /// Where the device's MTU is decided, or at least where the device is made.
    pub(crate) fn of_mtu(&self, device: &DeviceRef) -> Range<usize> {
        let made = || self.devices.iter().find(|(at, _)| at == device).map(|(_, place)| place.clone());
        self.mtus.get(device).cloned().or_else(made).unwrap_or(0..0)
    }
}

/// The lab of `document`.
pub(crate) fn lab(document: &Document) -> Draft {
    let mut maker = Maker { document, mtus: Mtus::of(document), places: Places::default() };
    let (links, nics) = maker.links();
    let bridges: Vec<Bridge> = document.bridges.iter().map(|entry| maker.bridge(entry)).collect();
    let bare: Vec<(DeviceRef, Ipv4Net)> = maker.places.addresses.iter().map(|a| (a.0.clone(), a.1)).collect();
    let vxlans: Vec<Vxlan> = document.vxlans.iter().map(|entry| maker.vxlan(entry, &bare)).collect();
    let devices = maker.devices();
    let gateways = gateways(document, &vxlans);
    let mut lab = Lab {
        hosts: hosts(document),
        links,
        nics,
        bridges,
        vxlans,
        gateways,
        routes: routes(document),
        devices,
    };
    route_back(&mut lab);
    set_forwarding(&mut lab);
    Draft { lab, places: maker.places }
}

/// The device of a bridge.
pub(crate) fn bridge_device(entry: &Entry<BridgeTable>) -> DeviceRef {
    let device = entry.table.device.as_ref().map_or(entry.name(), |device| device.get_ref());
    DeviceRef::new(entry.table.host.get_ref(), device)
}

/// The bridge's port that a guest or pod is attached to, if its bridge exists.
fn port_of(document: &Document, guest: &Entry<GuestTable>) -> Option<DeviceRef> {
    let bridge = document.bridges.get(guest.table.bridge.get_ref())?;
    Some(DeviceRef::new(bridge.table.host.get_ref(), guest.name()))
}

struct Maker<'d> {
    document: &'d Document,
    mtus: Mtus,
    places: Places,
}

impl Maker<'_> {
    /// Wires and attachments; a guest that is a virtual machine has a device of its own kind.
    fn links(&mut self) -> (Vec<Link>, Vec<Nic>) {
        let document = self.document;
        let mut links: Vec<Link> =
            document.wires.iter().map(|entry| self.wire(entry.name(), &entry.table)).collect();
        let mut nics = Vec::new();
        for (entry, nic) in document.attached().filter_map(|entry| Some((entry, self.nic(entry)?))) {
            match entry.table.vm {
                Some(_) => nics.push(nic),
                None => links.push(attachment(nic)),
            }
        }
        (links, nics)
    }

    fn wire(&mut self, name: &str, wire: &WireTable) -> Link {
        let ends = [0, 1].map(|side| {
            let at = wire.between[side].get_ref().0.clone();
            self.device(&at, wire.between[side].span(), wire.mtu.as_ref().map(toml::Spanned::span));
            let written = wire.addresses.as_ref().map(|addresses| &addresses[side]);
            let address = written.and_then(|address| address.get_ref().0);
            self.address(&at, address, || written.map_or(0..0, toml::Spanned::span));
            LinkEnd { at, address }
        });
        let rate = wire.rate.as_ref().map(|rate| rate.get_ref().0);
        let mtu = self.mtus.made(&ends[0].at);
        Link { name: name.to_owned(), role: LinkRole::Wire, ends, mtu, rate }
    }

    fn nic(&mut self, guest: &Entry<GuestTable>) -> Option<Nic> {
        let (at, port) = (DeviceRef::new(guest.name(), GUEST_DEVICE), port_of(self.document, guest)?);
        let mtu_place = guest.table.mtu.as_ref().map(toml::Spanned::span);
        self.device(&at, guest.name.span(), mtu_place.clone());
        self.device(&port, guest.name.span(), mtu_place);
        let address = guest.table.address.get_ref().0;
        self.address(&at, Some(address), || guest.table.address.span());
        let mtu = self.mtus.made(&at);
        let queues = vm_of(self.document, guest).map_or(1, |vm| vm.queues);
        Some(Nic { name: guest.name().to_owned(), at, port, address, mtu, queues })
    }

    fn bridge(&mut self, entry: &Entry<BridgeTable>) -> Bridge {
        let at = bridge_device(entry);
        let place = entry.table.device.as_ref().map_or_else(|| entry.name.span(), toml::Spanned::span);
        self.device(&at, place, entry.table.mtu.as_ref().map(toml::Spanned::span));
        let address = entry.table.address.as_ref().map(|address| address.get_ref().0);
        self.address(&at, address, || entry.table.address.as_ref().map_or(0..0, toml::Spanned::span));
        let (ports, mtu) = (ports(self.document, entry), self.mtus.made(&at));
        Bridge { name: entry.name().to_owned(), at, ports, address, mtu }
    }

    fn vxlan(&mut self, entry: &Entry<VxlanTable>, underlay: &[(DeviceRef, Ipv4Net)]) -> Vxlan {
        let table = &entry.table;
        let mut mtu = mtu::DEFAULT - ENCAPSULATION;
        let members = table.members.iter().map(|member| {
            let at = DeviceRef::new(member.name(), entry.name());
            self.device(&at, entry.name.span(), table.mtu.as_ref().map(toml::Spanned::span));
            let address = member.table.address.as_ref().map(|address| address.get_ref().0);
            self.address(&at, address, || member.table.address.as_ref().map_or(0..0, toml::Spanned::span));
            mtu = self.mtus.made(&at);
            let over = DeviceRef::new(member.name(), member.table.over.get_ref());
            let local =
                underlay.iter().find(|(device, _)| *device == over).map(|(_, address)| address.addr());
            let local = local.unwrap_or(Ipv4Addr::UNSPECIFIED);
            VxlanMember { at, underlay: over.device, local, address }
        });
        let members = members.collect();
        let port = table.port.as_ref().map_or(4789, |port| *port.get_ref());
        let forwarding = table.fdb.map_or(Forwarding::Unicast, Forwarding::from);
        Vxlan { name: entry.name().to_owned(), vni: *table.vni.get_ref(), port, forwarding, mtu, members }
    }

    fn devices(&mut self) -> BTreeMap<DeviceRef, DeviceSettings> {
        let mut settings = BTreeMap::new();
        for entry in self.document.devices.iter() {
            let Ok(at) = entry.name().parse::<DeviceRef>() else { continue };
            if let Some(place) = device::place(&entry.table, DeviceSettingKind::Mtu) {
                self.places.mtus.insert(at.clone(), place);
            }
            settings.insert(at, device_settings(&entry.table).0);
        }
        settings
    }

    fn device(&mut self, at: &DeviceRef, place: Range<usize>, mtu: Option<Range<usize>>) {
        self.places.devices.push((at.clone(), place));
        if let Some(mtu) = mtu {
            self.places.mtus.insert(at.clone(), mtu);
        }
    }

    fn address(&mut self, at: &DeviceRef, address: Option<Ipv4Net>, place: impl FnOnce() -> Range<usize>) {
        if let Some(address) = address {
            self.places.addresses.push((at.clone(), address, place()));
        }
    }
}

/// The same as a pair of devices.
fn attachment(nic: Nic) -> Link {
    let near = LinkEnd { at: nic.at, address: Some(nic.address) };
    let ends = [near, LinkEnd { at: nic.port, address: None }];
    Link { name: nic.name, role: LinkRole::Attachment, ends, mtu: nic.mtu, rate: None }
}

/// The ports of a bridge: those it lists, then guests and pods, then overlays.
fn ports(document: &Document, bridge: &Entry<BridgeTable>) -> Vec<DeviceName> {
    let listed = bridge.table.ports.iter().map(|port| port.get_ref().as_str());
    let attached = document.attached().filter(|guest| guest.table.bridge.get_ref() == bridge.name());
    let overlays = document.vxlans.iter().filter(|vxlan| {
        vxlan.table.members.iter().any(|member| {
            member.name() == bridge.table.host.get_ref()
                && member.table.bridge.as_ref().is_some_and(|named| named.get_ref() == bridge.name())
        })
    });
    listed.chain(attached.map(Entry::name)).chain(overlays.map(Entry::name)).map(DeviceName::new).collect()
}

fn hosts(document: &Document) -> Vec<Host> {
    let host = |name: &str, kind, vm| Host { name: HostName::new(name), kind, forwards: false, vm };
    let hosts = document.hosts.names().map(|name| host(name, HostKind::Host, None));
    let guests =
        document.guests.iter().map(|guest| host(guest.name(), HostKind::Guest, vm_of(document, guest)));
    let pods = document.pods.iter().map(|pod| host(pod.name(), HostKind::Pod, vm_of(document, pod)));
    hosts.chain(guests).chain(pods).collect()
}

/// The virtual machine that a guest or pod is, if it is one of a known kind.
fn vm_of(document: &Document, guest: &Entry<GuestTable>) -> Option<Vm> {
    Some(vm(&document.vms.get(guest.table.vm.as_ref()?.get_ref())?.table))
}

fn routes(document: &Document) -> Vec<Route> {
    let written = document.routes.iter().map(|route| Route {
        host: HostName::new(route.host.get_ref()),
        to: route.to.get_ref().0,
        via: route.via.get_ref().0,
    });
    let defaults = document.attached().filter_map(|guest| {
        let via = guest.table.gateway.as_ref()?.get_ref().0;
        Some(Route { host: HostName::new(guest.name()), to: Ipv4Net::default(), via })
    });
    written.chain(defaults).collect()
}

fn gateways(document: &Document, vxlans: &[Vxlan]) -> Vec<Gateway> {
    let tables = FIRST_TABLE..;
    document.gateways.iter().zip(tables).map(|(entry, table)| gateway(entry, table, vxlans)).collect()
}

fn gateway(entry: &Entry<GatewayTable>, table: u32, vxlans: &[Vxlan]) -> Gateway {
    let written = &entry.table;
    let egress = HostName::new(written.egress.get_ref());
    Gateway {
        name: entry.name().to_owned(),
        node: HostName::new(written.node.get_ref()),
        sources: written.pods.get_ref().0,
        destinations: written.destinations.get_ref().0,
        tunnel: DeviceName::new(written.tunnel.get_ref()),
        next_hop: inside(vxlans, written.tunnel.get_ref(), &egress).unwrap_or(Ipv4Addr::UNSPECIFIED),
        table,
        egress,
        egress_device: DeviceName::new(written.device.get_ref()),
        egress_address: written.address.get_ref().0,
    }
}

/// The address of `host` inside the overlay `name`.
pub(crate) fn inside(vxlans: &[Vxlan], name: &str, host: &HostName) -> Option<Ipv4Addr> {
    let vxlan = vxlans.iter().find(|vxlan| vxlan.name == name)?;
    let member = vxlan.members.iter().find(|member| member.at.host == *host)?;
    member.address.map(|address| address.addr())
}

/// Gives each egress host the route back to the pods, through the tunnel, unless the document gives it one.
fn route_back(lab: &mut Lab) {
    for gateway in &lab.gateways {
        let Some(via) = inside(&lab.vxlans, gateway.tunnel.as_str(), &gateway.node) else { continue };
        let back = Route { host: gateway.egress.clone(), to: gateway.sources, via };
        let known = |route: &Route| route.host == back.host && route.to.contains(&back.to);
        if !lab.routes.iter().any(known) {
            lab.routes.push(back);
        }
    }
}

/// Lets those hosts forward that are the next hop of a route or a part of a gateway.
fn set_forwarding(lab: &mut Lab) {
    let owners: BTreeMap<Ipv4Addr, HostName> =
        lab.addresses().map(|(at, address)| (address.addr(), at.host.clone())).collect();
    let hops = lab.routes.iter().filter_map(|route| owners.get(&route.via));
    let ends = lab.gateways.iter().flat_map(|gateway| [&gateway.node, &gateway.egress]);
    let routers: Vec<HostName> = hops.chain(ends).cloned().collect();
    for host in &mut lab.hosts {
        host.forwards = routers.contains(&host.name);
    }
}

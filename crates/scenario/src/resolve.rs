//! Resolves a document into a lab. The checks report all problems.

mod device;
mod existing_host;
mod mtu;
mod vm;

use std::{collections::BTreeMap, net::IpAddr, ops::Range};

use ipnet::IpNet;

use crate::{
    document::{Document, Entry, GatewayTable, GuestTable},
    family::{Family, UNKNOWN},
    lab::{DeviceSettingKind, DeviceSettings, Gateway, Host, HostKind, Lab, Route},
    link::LinkTable,
    names::{DeviceName, DeviceRef, HostName},
    vm::Vm,
};
pub(crate) use device::{device_settings, place};
pub(crate) use existing_host::existing_host;
pub(crate) use mtu::Mtus;
pub(crate) use vm::vm;

/// The routing table of the first gateway. The kernel reserves 253 to 255.
const FIRST_TABLE: u32 = 1000;

#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) lab: Lab,
    pub(crate) places: Places,
}

#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) devices: Vec<(DeviceRef, Range<usize>)>,
    pub(crate) addresses: Vec<(DeviceRef, IpNet, Range<usize>)>,
    pub(crate) mtus: BTreeMap<DeviceRef, Range<usize>>,
    pub(crate) segments: BTreeMap<DeviceRef, Range<usize>>,
}

impl Places {
    fn of(document: &Document) -> Self {
        let mut places = Self::default();
        for table in document.links.all() {
            for device in table.devices(document) {
                if let Some(mtu) = table.mtu() {
                    places.mtus.insert(device.at.clone(), mtu.span());
                }
                places.segments.entry(device.at.clone()).or_insert(device.segment);
                if let Some((address, place)) = device.address {
                    places.addresses.push((device.at.clone(), address, place));
                }
                places.devices.push((device.at, device.place));
            }
        }
        for entry in document.devices.iter() {
            if let (Ok(at), Some(mtu)) =
                (entry.name().parse(), device::place(&entry.table, DeviceSettingKind::Mtu))
            {
                places.mtus.insert(at, mtu);
            }
        }
        places
    }

    pub(crate) fn has(&self, device: &DeviceRef) -> bool {
        self.devices.iter().any(|(at, _)| at == device)
    }

    pub(crate) fn of_mtu(&self, device: &DeviceRef) -> Range<usize> {
        let device_place =
            || self.devices.iter().find(|(at, _)| at == device).map(|(_, place)| place.clone());
        self.mtus.get(device).cloned().or_else(device_place).unwrap_or(0..0)
    }
}

pub(crate) fn lab(document: &Document) -> Draft {
    let (mtus, places) = (Mtus::of(document), Places::of(document));
    let resolver = Resolver { document, mtus, places };
    let links = document.links.all().filter_map(|table| table.link(&resolver)).collect();
    let (hosts, routes, devices) = (hosts(document), routes(document), devices(document));
    let second_family = second_family(document);
    let mut lab = Lab { hosts, links, gateways: Vec::new(), routes, devices, second_family };
    lab.gateways = gateways(document, &lab);
    route_back(&mut lab);
    set_forwarding(&mut lab);
    Draft { lab, places: resolver.places }
}

fn second_family(document: &Document) -> Option<Family> {
    let families = document.families();
    let underlays = document.links.all().filter_map(LinkTable::underlay).map(|family| **family);
    families.iter().copied().chain(underlays).find(|family| Some(family) != families.first())
}

pub(crate) struct Resolver<'d> {
    pub(crate) document: &'d Document,
    mtus: Mtus,
    places: Places,
}

impl Resolver<'_> {
    pub(crate) fn mtu(&self, device: &DeviceRef) -> u32 {
        self.mtus.at_creation(device)
    }

    pub(crate) fn address(&self, device: &DeviceRef) -> Option<IpAddr> {
        let mut addresses = self.places.addresses.iter();
        addresses.find(|(at, ..)| at == device).map(|(_, address, _)| address.addr())
    }
}

fn devices(document: &Document) -> BTreeMap<DeviceRef, DeviceSettings> {
    let known = document.devices.iter().filter_map(|entry| {
        let at = entry.name().parse::<DeviceRef>().ok()?;
        Some((at, device_settings(&entry.table).0))
    });
    known.collect()
}

fn hosts(document: &Document) -> Vec<Host> {
    let host = |guest: &Entry<GuestTable>, kind| Host {
        vm: vm_of(document, guest),
        on: seat(document, guest),
        ..Host::new(guest.name(), kind)
    };
    let hosts = document.hosts.iter().map(|entry| Host {
        existing: existing_host(&entry.table),
        ..Host::new(entry.name(), HostKind::Host)
    });
    let guests = document.links.guests.iter().map(|guest| host(guest, HostKind::Guest));
    let pods = document.links.pods.iter().map(|pod| host(pod, HostKind::Pod));
    hosts.chain(guests).chain(pods).collect()
}

fn seat(document: &Document, guest: &Entry<GuestTable>) -> Option<HostName> {
    let host = document.links.bridges.get(&guest.table.bridge)?.table.host.get_ref();
    document.existing(host).map(|_| HostName::new(host))
}

pub(crate) fn vm_of(document: &Document, guest: &Entry<GuestTable>) -> Option<Vm> {
    Some(vm(&document.vms.get(guest.table.vm.as_ref()?.get_ref())?.table))
}

fn routes(document: &Document) -> Vec<Route> {
    let written = document.routes.iter().map(|route| Route {
        host: HostName::new(&route.host),
        to: route.to.0,
        via: route.via.0,
    });
    let defaults = document.attached().filter_map(|guest| {
        let via = guest.table.gateway.as_ref()?.0;
        Some(Route { host: HostName::new(guest.name()), to: Family::of(via).default_route(), via })
    });
    written.chain(defaults).collect()
}

fn gateways(document: &Document, lab: &Lab) -> Vec<Gateway> {
    document.gateways.iter().zip(FIRST_TABLE..).map(|(entry, table)| gateway(entry, table, lab)).collect()
}

fn gateway(entry: &Entry<GatewayTable>, table: u32, lab: &Lab) -> Gateway {
    let written = &entry.table;
    let egress = HostName::new(&written.egress);
    let tunnel = DeviceName::new(&written.tunnel);
    let next_hop = inside(lab, &tunnel, &egress).unwrap_or(UNKNOWN);
    Gateway {
        name: entry.name().to_owned(),
        node: HostName::new(&written.node),
        sources: written.pods.0,
        destinations: written.destinations.0,
        tunnel,
        next_hop,
        table,
        egress,
        egress_device: DeviceRef::named_in(&written.egress, &written.device).device,
        egress_address: written.address.0,
    }
}

fn inside(lab: &Lab, tunnel: &DeviceName, host: &HostName) -> Option<IpAddr> {
    let mut addresses = lab.addresses();
    addresses.find(|(at, _)| at.host == *host && at.device == *tunnel).map(|(_, address)| address.addr())
}

/// Gives each egress host a route through the tunnel back to the pods, unless the document contains one.
fn route_back(lab: &mut Lab) {
    let back = |gateway: &Gateway| {
        let via = inside(lab, &gateway.tunnel, &gateway.node)?;
        Some(Route { host: gateway.egress.clone(), to: gateway.sources, via })
    };
    for back in lab.gateways.iter().filter_map(back).collect::<Vec<_>>() {
        let known = |route: &Route| route.host == back.host && route.to.contains(&back.to);
        if !lab.routes.iter().any(known) {
            lab.routes.push(back);
        }
    }
}

fn set_forwarding(lab: &mut Lab) {
    let owners: BTreeMap<IpAddr, HostName> =
        lab.addresses().map(|(at, address)| (address.addr(), at.host.clone())).collect();
    let hops = lab.routes.iter().filter_map(|route| owners.get(&route.via));
    let ends = lab.gateways.iter().flat_map(|gateway| [&gateway.node, &gateway.egress]);
    let routers: Vec<HostName> = hops.chain(ends).cloned().collect();
    for host in &mut lab.hosts {
        host.forwards = routers.contains(&host.name);
    }
}

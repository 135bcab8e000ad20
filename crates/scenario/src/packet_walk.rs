//! Traces a packet through the resolved lab to find its path, or where it stops.

mod segment;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    net::IpAddr,
};

use ipnet::IpNet;

use crate::{
    lab::{Gateway, Lab, Route},
    link::Layer,
    names::{DeviceRef, HostName},
    path::PathEnd,
};
use segment::{Segments, Step};

const TUNNEL_DEPTH: usize = 4;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trip {
    pub(crate) devices: Vec<DeviceRef>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) translation: Option<Translation>,
}

impl Trip {
    pub(crate) fn between_existing(from: &DeviceRef, to: &DeviceRef) -> Self {
        Self { devices: vec![from.clone(), to.clone()], layers: vec![Layer::Network], translation: None }
    }

    fn add_layer(&mut self, layer: Layer) {
        if !self.layers.contains(&layer) {
            self.layers.push(layer);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Translation {
    host: HostName,
    inner: IpAddr,
    outer: IpAddr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) host: HostName,
    pub(crate) reason: StopReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopReason {
    NoRoute(IpAddr),
    NotARouter,
    NoSuchAddress(DeviceRef, IpAddr),
    Loop,
    TunnelDepth,
    /// The route to the tunnel's remote endpoint does not use the tunnel's underlying device.
    OtherUnderlay(DeviceRef, DeviceRef),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match &self.reason {
            StopReason::NoRoute(to) => write!(f, "it stops at `{host}`, which has no route to {to}"),
            StopReason::NotARouter => write!(
                f,
                "it stops at `{host}`, which does not forward because it is not a next hop of any route"
            ),
            StopReason::NoSuchAddress(device, address) => {
                write!(f, "it stops at `{host}`: no device connected to `{device}` has the address {address}")
            }
            StopReason::Loop => write!(f, "it returns to `{host}`: the routes form a loop"),
            StopReason::TunnelDepth => {
                write!(f, "it stops at `{host}`: more than {TUNNEL_DEPTH} nested tunnels")
            }
            StopReason::OtherUnderlay(expected, actual) => {
                write!(
                    f,
                    "it stops at `{host}`: the tunnel uses `{expected}`, but the route to its far end uses `{actual}`"
                )
            }
        }
    }
}

pub(crate) struct World<'l> {
    lab: &'l Lab,
    gateways: Vec<Gateway>,
    routes: Vec<Route>,
    segments: Segments<'l>,
    addresses: BTreeMap<&'l HostName, Vec<(&'l DeviceRef, IpNet)>>,
    routers: BTreeSet<&'l HostName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packet {
    source: IpAddr,
    destination: IpAddr,
}

struct Hop {
    device: DeviceRef,
    next: IpAddr,
    is_diverted: bool,
}

impl<'l> World<'l> {
    pub(crate) fn new(lab: &'l Lab) -> Self {
        let mut addresses: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (at, address) in lab.all_addresses() {
            addresses.entry(&at.host).or_default().push((at, address));
        }
        let routers = lab.hosts.iter().filter(|host| host.forwards).map(|host| &host.name).collect();
        let (gateways, routes) = (lab.all_gateways().collect(), lab.all_routes().collect());
        Self { lab, gateways, routes, segments: Segments::new(lab), addresses, routers }
    }

    pub(crate) fn is_one_segment(&self, out: &DeviceRef, to: &DeviceRef) -> bool {
        self.segments.route(out, |device| device == to).is_some()
    }

    pub(crate) fn there(&self, from: &PathEnd, to: &PathEnd) -> Result<Trip, Stop> {
        let packet = Packet { source: from.address, destination: to.address };
        self.walk(&from.host, packet, None, None, 0)
    }

    pub(crate) fn back(&self, from: &PathEnd, to: &PathEnd, trip: &Trip) -> Result<Trip, Stop> {
        let translation = trip.translation.as_ref();
        let destination = translation.map_or(from.address, |translation| translation.outer);
        self.walk(&to.host, Packet { source: to.address, destination }, translation, None, 0)
    }

    pub(crate) fn under(&self, from: (&DeviceRef, IpAddr), to: IpAddr) -> Result<Trip, Stop> {
        self.tunnel(from, to, 0)
    }

    fn tunnel(&self, (over, local): (&DeviceRef, IpAddr), to: IpAddr, depth: usize) -> Result<Trip, Stop> {
        let packet = Packet { source: local, destination: to };
        self.walk(&over.host, packet, None, Some(over), depth)
    }

    fn walk(
        &self,
        start: &HostName,
        mut packet: Packet,
        reply_to: Option<&Translation>,
        over: Option<&DeviceRef>,
        depth: usize,
    ) -> Result<Trip, Stop> {
        let (mut trip, mut host, mut seen) = (Trip::default(), start.clone(), BTreeSet::new());
        loop {
            if let Some(reply) = reply_to.filter(|t| t.host == host && t.outer == packet.destination) {
                packet.destination = reply.inner;
            }
            if self.owns(&host, packet.destination) {
                return Ok(trip);
            }
            if !seen.insert((host.clone(), packet.destination)) {
                return Err(Stop { host, reason: StopReason::Loop });
            }
            if host != *start && !self.routers.contains(&host) {
                return Err(Stop { host, reason: StopReason::NotARouter });
            }
            let hop = self.route(&host, packet)?;
            if let Some(over) = over.filter(|over| host == *start && **over != hop.device) {
                return Err(Stop { host, reason: StopReason::OtherUnderlay(over.clone(), hop.device) });
            }
            if hop.is_diverted {
                trip.add_layer(Layer::Gateway);
            }
            if reply_to.is_none() {
                self.translate(&hop.device, &mut packet, &mut trip);
            }
            host = self.cross(&hop, &mut trip, depth)?;
        }
    }

    fn route(&self, host: &HostName, packet: Packet) -> Result<Hop, Stop> {
        let diverting = |gateway: &&Gateway| {
            gateway.node == *host
                && gateway.sources.contains(&packet.source)
                && gateway.destinations.contains(&packet.destination)
        };
        if let Some(gateway) = self.gateways.iter().find(diverting) {
            let device = DeviceRef { host: host.clone(), device: gateway.tunnel.clone() };
            return Ok(Hop { device, next: gateway.next_hop, is_diverted: true });
        }
        let stop = || Stop { host: host.clone(), reason: StopReason::NoRoute(packet.destination) };
        self.lookup(host, packet.destination).ok_or_else(stop)
    }

    /// Finds a route by longest prefix match. A connected route wins a tie.
    fn lookup(&self, host: &HostName, destination: IpAddr) -> Option<Hop> {
        let connected =
            self.connected(host, destination).map(|(prefix, device)| (prefix, 1, device, destination));
        let mine = self.routes.iter().filter(|route| route.host == *host && route.to.contains(&destination));
        let statics = mine.filter_map(|route| {
            let (_, device) = self.connected(host, route.via)?;
            Some((route.to.prefix_len(), 0, device, route.via))
        });
        let best = connected.into_iter().chain(statics).max_by_key(|(prefix, direct, ..)| (*prefix, *direct));
        best.map(|(_, _, device, next)| Hop { device: device.clone(), next, is_diverted: false })
    }

    fn connected(&self, host: &HostName, address: IpAddr) -> Option<(u8, &'l DeviceRef)> {
        let networks = self.addresses.get(host)?.iter().filter(|(_, network)| network.contains(&address));
        networks.map(|(at, network)| (network.prefix_len(), *at)).max_by_key(|(prefix, _)| *prefix)
    }

    fn owns(&self, host: &HostName, address: IpAddr) -> bool {
        let mut assigned = self.addresses.get(host).into_iter().flatten();
        assigned.any(|(_, has)| has.addr() == address)
            || self.gateways.iter().any(|g| g.egress == *host && g.egress_address == address)
    }

    fn answers_arp(&self, device: &DeviceRef, address: IpAddr) -> bool {
        let mut assigned = self.addresses.get(&device.host).into_iter().flatten();
        let assigned = assigned.any(|(at, has)| *at == device && has.addr() == address);
        let egress = |gateway: &Gateway| {
            gateway.egress == device.host
                && gateway.egress_device == device.device
                && gateway.egress_address == address
        };
        assigned || self.gateways.iter().any(egress)
    }

    fn translate(&self, out: &DeviceRef, packet: &mut Packet, trip: &mut Trip) {
        let leaving = |gateway: &&Gateway| {
            gateway.egress == out.host
                && gateway.egress_device == out.device
                && gateway.sources.contains(&packet.source)
                && gateway.destinations.contains(&packet.destination)
        };
        let Some(gateway) = self.gateways.iter().find(leaving) else { return };
        let (inner, outer) = (packet.source, gateway.egress_address);
        trip.translation = Some(Translation { host: out.host.clone(), inner, outer });
        trip.add_layer(Layer::Gateway);
        packet.source = outer;
    }

    fn cross(&self, hop: &Hop, trip: &mut Trip, depth: usize) -> Result<HostName, Stop> {
        let no_such_address = || Stop {
            host: hop.device.host.clone(),
            reason: StopReason::NoSuchAddress(hop.device.clone(), hop.next),
        };
        let way = self
            .segments
            .route(&hop.device, |device| self.answers_arp(device, hop.next))
            .ok_or_else(no_such_address)?;
        let mut last = hop.device.host.clone();
        for step in way {
            match step {
                Step::Device(device) => {
                    last = device.host.clone();
                    trip.devices.push(device.clone());
                }
                Step::Layer(layer) => trip.add_layer(layer),
                Step::Tunnel { over, local, remote, far } => {
                    if depth >= TUNNEL_DEPTH {
                        return Err(Stop { host: over.host, reason: StopReason::TunnelDepth });
                    }
                    let inner = match self.lab.existing(&over.host) {
                        Some(_) => Trip::between_existing(&over, &far),
                        None => self.tunnel((&over, local), remote, depth + 1)?,
                    };
                    trip.devices.extend(inner.devices);
                    inner.layers.into_iter().for_each(|layer| trip.add_layer(layer));
                }
            }
        }
        Ok(last)
    }
}

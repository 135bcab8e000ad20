//! The ends of VXLAN overlays and point-to-point tunnels.

use std::{net::IpAddr, ops::Range};

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BridgeTable, LinkDevice, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{As, Converter, Document, Entry, Section, Spanned},
    family::{Family, UNKNOWN},
    names::{DeviceName, DeviceRef},
    packet_walk::World,
    resolve::{Mtus, Resolver},
};

/// The tunnel's device in a host. It has either an address or a bridge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndTable {
    /// The device that carries the tunnel. Its address is the tunnel endpoint. Not allowed on an existing host, where
    /// the host's own network carries the tunnel.
    pub(crate) over: Option<Spanned<String>>,
    /// Address of the tunnel device, for routing packets into the tunnel.
    pub(crate) address: Option<Spanned<As<IpNet>>>,
    /// The bridge that the tunnel device joins, for bridging packets into the tunnel.
    pub(crate) bridge: Option<Spanned<String>>,
}

impl Entry<EndTable> {
    fn over(&self) -> DeviceRef {
        DeviceRef::named_in(self.name(), self.table.over.as_ref().map_or("", |over| over.get_ref()))
    }
}

impl Section<EndTable> {
    pub(super) fn devices(&self, tunnel: &Spanned<String>) -> Vec<WrittenDevice> {
        let device = |end: &Entry<EndTable>| {
            let address = end.table.address.as_ref();
            let address = address.map(|address| (address.0, address.span()));
            let device = WrittenDevice::new(DeviceRef::new(end.name(), tunnel), tunnel.span());
            WrittenDevice { segment: end.name.span(), ..device.with_address(address) }
        };
        self.iter().map(device).collect()
    }

    pub(super) fn convert(&mut self, converter: &mut Converter) {
        let ends = self.0.iter_mut();
        ends.filter_map(|end| end.table.address.as_mut()).for_each(|address| converter.put(address));
    }

    pub(super) fn port_of(&self, bridge: &Entry<BridgeTable>, tunnel: &str) -> Option<DeviceName> {
        let named = self.get(&bridge.table.host)?.table.bridge.as_ref()?;
        (named.get_ref() == bridge.name()).then(|| DeviceName::new(tunnel))
    }

    pub(super) fn family(&self, document: &Document, written: Option<&Spanned<Family>>) -> Family {
        let over = self.iter().next().map(Entry::<EndTable>::over);
        let address = || {
            let devices = document.links.all().flat_map(|table| table.devices(document));
            devices.filter(|device| Some(&device.at) == over.as_ref()).find_map(|device| device.address)
        };
        let written = written.map(|family| **family).or_else(|| document.families().first().copied());
        written.or_else(|| Some(Family::of(address()?.0.addr()))).unwrap_or(Family::Ipv4)
    }

    /// Tunnels are created before settings are applied, so they must fit the underlay's MTU at creation.
    pub(super) fn least_underlay_mtu(&self, mtus: &Mtus) -> Option<u32> {
        let under = self.iter().map(Entry::<EndTable>::over);
        under.filter_map(|over| Some(mtus.effective(&over)?.min(mtus.at_creation(&over)))).min()
    }

    pub(super) fn resolve(
        &self,
        tunnel: &str,
        underlay: Option<&Spanned<Family>>,
        resolver: &Resolver<'_>,
    ) -> Vec<TunnelEnd> {
        let resolve = |end: &Entry<EndTable>| {
            let (at, existing) = (DeviceRef::new(end.name(), tunnel), resolver.document.existing(end.name()));
            let (over, local) = match &existing {
                Some(existing) => (existing.end(&at.host).device, existing.address),
                None => {
                    let over = end.over();
                    let links = &resolver.document.links;
                    let device = over.device.as_str();
                    let is_tunnel = links.vxlans.get(device).is_some() || links.tunnels.get(device).is_some();
                    let local = resolver.address(&over).filter(|_| !is_tunnel);
                    (over, local.and_then(|local| underlay.map_or(Some(local), |it| it.address(local))))
                }
            };
            TunnelEnd {
                at,
                underlay: over.device,
                local: local.unwrap_or(UNKNOWN),
                address: end.table.address.as_ref().map(|address| address.0),
                existing: existing.is_some(),
            }
        };
        self.iter().map(resolve).collect()
    }

    pub(super) fn references(&self, tunnel: &str, noun: &str, checker: &mut Checker<'_>) {
        for end in self.iter() {
            if checker.host(&end.name) {
                let who = format!("the {noun} `{}` of `{tunnel}`", end.name());
                checker.underlay(&who, &end.name, end.table.over.as_ref());
                let (address, bridge) = (end.table.address.is_some(), end.table.bridge.as_ref());
                checker.address_or_bridge((&who, &end.name), end.name(), address, bridge);
            }
        }
    }

    pub(super) fn without_local(&self, ends: &[TunnelEnd], problems: &mut Vec<Problem>) {
        let unaddressed = |end: &&TunnelEnd| !end.existing && end.local.is_unspecified();
        for end in ends.iter().filter(unaddressed) {
            let Some(place) = self.place_of_over(end) else { continue };
            let message =
                format!("`{}:{}` has no address to use as the tunnel endpoint", end.at.host, end.underlay);
            let help = "a tunnel needs an underlying wire end or bridge with an address";
            problems.push(Problem::new(place, message, "no address").help(help));
        }
    }

    pub(super) fn networks(&self, tunnel: &str, noun: &str, problems: &mut Vec<Problem>) {
        let mut first: Option<IpNet> = None;
        for address in self.iter().filter_map(|end| end.table.address.as_ref()) {
            let network = address.0.trunc();
            if *first.get_or_insert(network) != network {
                let message = format!("the {noun}s of `{tunnel}` are in different networks");
                let help = format!("all {noun}s need addresses with the same prefix");
                problems.push(Problem::new(address.span(), message, "different network").help(help));
            }
        }
    }

    /// Reports tunnel packets that do not reach the other ends. Existing hosts are skipped, because the network
    /// between them is unknown.
    pub(super) fn walk(&self, ends: &[TunnelEnd], world: &World<'_>, problems: &mut Vec<Problem>) {
        for near in ends.iter().filter(|near| !near.existing) {
            let others = ends.iter().filter(|far| far.at != near.at && !far.existing);
            let stop = others.filter_map(|far| Some((&far.at.host, unreachable(world, near, far)?))).next();
            if let (Some((far, reason)), Some(place)) = (stop, self.place_of_over(near)) {
                let message =
                    format!("the tunnel `{}` of `{}` cannot reach `{far}`", near.at.device, near.at.host);
                problems.push(Problem::new(place, message, "this underlay").help(reason));
            }
        }
    }

    fn place_of_over(&self, end: &TunnelEnd) -> Option<Range<usize>> {
        Some(self.get(end.at.host.as_str())?.table.over.as_ref()?.span())
    }
}

pub(super) fn zero_port(port: Option<&Spanned<u16>>, default: u16) -> Option<Problem> {
    let port = port.filter(|port| ***port == 0)?;
    let problem = Problem::new(port.span(), "the UDP port cannot be 0", "out of range");
    Some(problem.help(format!("the default is {default}")))
}

fn unreachable(world: &World<'_>, near: &TunnelEnd, far: &TunnelEnd) -> Option<String> {
    let stop = world.under((&near.over(), near.local), far.local).err()?;
    Some(format!("following a packet to {}, {stop}", far.local))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelEnd {
    pub at: DeviceRef,
    pub underlay: DeviceName,
    pub local: IpAddr,
    pub address: Option<IpNet>,
    /// Whether the device is in a separate namespace on an existing host.
    #[serde(default)]
    pub existing: bool,
}

impl TunnelEnd {
    fn over(&self) -> DeviceRef {
        DeviceRef { host: self.at.host.clone(), device: self.underlay.clone() }
    }
}

pub(super) fn link_devices(ends: &[TunnelEnd], mtu: u32) -> Vec<LinkDevice<'_>> {
    let devices = ends.iter().map(|end| LinkDevice {
        at: &end.at,
        mtu,
        address: end.address,
        over: (!end.existing).then_some(&end.underlay),
    });
    devices.collect()
}

pub(super) fn sent<'l>(ends: &'l [TunnelEnd], out: &DeviceRef) -> Vec<Way<'l>> {
    let Some(near) = ends.iter().find(|end| end.at == *out) else { return Vec::new() };
    let others = ends.iter().filter(|end| end.at != near.at);
    let ways = others.map(|other| Way::Tunnel {
        over: near.over(),
        local: near.local,
        remote: other.local,
        far: other.over(),
        to: &other.at,
    });
    ways.collect()
}

pub(super) fn family(ends: &[TunnelEnd]) -> Family {
    let known = ends.iter().find(|end| !end.local.is_unspecified());
    known.map_or(Family::Ipv4, |end| Family::of(end.local))
}

/// `most` returns the largest tunnel MTU for an underlay MTU.
pub(super) fn misfits(ends: &[TunnelEnd], mtus: &Fits, most: impl Fn(u32) -> u32) -> Vec<Misfit> {
    let Some(first) = ends.first().map(|end| &end.at) else { return Vec::new() };
    let too_big = |end: &TunnelEnd| {
        let (tunnel, under) = (&end.at, end.over());
        let (inner, outer) = (mtus.of(tunnel)?, mtus.of(&under)?);
        let most = most(outer);
        let message = format!(
            "MTU {inner} of `{tunnel}` is too large: `{under}` has MTU {outer}, and encapsulation adds {} bytes",
            outer - most
        );
        let help =
            format!("use an MTU of at most {most} for the tunnel, or a larger one for the underlying wire");
        (inner > most).then(|| Misfit { blamed: tunnel.clone(), message, help })
    };
    let of_end = |end: &TunnelEnd| [mtus.differ(first, &end.at, "other end"), too_big(end)];
    ends.iter().flat_map(of_end).flatten().collect()
}

//! VXLAN overlays (RFC 7348).

use std::{net::IpAddr, ops::Range};

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BridgeTable, Layer, Link, LinkDevice, LinkKind, LinkTable, Way, WrittenDevice};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{As, Converter, Document, Entry, Section, Spanned},
    family::{Family, UNKNOWN},
    lab::{Lab, UNKNOWN_MTU},
    names::{DeviceName, DeviceRef},
    packet_walk::World,
    resolve::{Draft, Mtus, Resolver},
};

/// The overhead of VXLAN in bytes: IP, UDP 8, VXLAN 8, Ethernet 14 (RFC 7348, section 5).
fn encapsulation(underlay: Family) -> u32 {
    underlay.header() + 30
}

/// The port assigned by IANA.
const PORT: u16 = 4789;

/// A VXLAN overlay. Its device has the same name in each member: the table's name, at most 15 bytes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VxlanTable {
    /// The VXLAN network identifier (VNI).
    #[schemars(range(min = 1, max = 16_777_215))]
    pub(crate) vni: Spanned<u32>,
    /// UDP port of the tunnel. Default: 4789.
    #[schemars(range(min = 1))]
    pub(crate) port: Option<Spanned<u16>>,
    /// How members find a MAC address: `unicast` (static entries for all members, no learning) or `learning` (flood
    /// and learn). Default: `unicast`.
    pub(crate) fdb: Option<Forwarding>,
    /// Address family of the tunnel's packets. Default: that of the underlying device's address.
    pub(crate) underlay: Option<Spanned<Family>>,
    /// MTU of its devices. Default: the smallest MTU of the underlying devices, minus the encapsulation: 50 bytes over
    /// IPv4, 70 over IPv6.
    #[schemars(range(min = 576, max = 65485))]
    pub(crate) mtu: Option<Spanned<u32>>,
    /// Members, by host: `[vxlans.vx0.members.node1]`. At least two.
    pub(crate) members: Section<MemberTable>,
}

/// The overlay's device in a host. It has either an address or a bridge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberTable {
    /// The device that carries the tunnel. Its address is the tunnel endpoint. Not set on an existing host, because
    /// the host's own network carries the tunnel.
    pub(crate) over: Option<Spanned<String>>,
    /// Address of the VXLAN device, for routing packets into the tunnel.
    pub(crate) address: Option<Spanned<As<IpNet>>>,
    /// The bridge that the VXLAN device joins, for bridging packets into the tunnel.
    pub(crate) bridge: Option<Spanned<String>>,
}

impl Entry<VxlanTable> {
    fn port(&self) -> u16 {
        self.table.port.as_deref().copied().unwrap_or(PORT)
    }

    fn underlay(&self, document: &Document) -> Family {
        let over = self.table.members.iter().next().map(Entry::<MemberTable>::over);
        let address = || {
            let devices = document.links.all().flat_map(|table| table.devices(document));
            devices.filter(|device| Some(&device.at) == over.as_ref()).find_map(|device| device.address)
        };
        let written = self.table.underlay.as_deref().copied();
        let written = written.or_else(|| document.families().first().copied());
        written.or_else(|| Some(Family::of(address()?.0.addr()))).unwrap_or(Family::Ipv4)
    }

    fn device_in(&self, host: &str) -> DeviceRef {
        DeviceRef::new(host, self.name())
    }

    fn member(&self, member: &Entry<MemberTable>, resolver: &Resolver<'_>) -> VxlanMember {
        let (at, existing) = (self.device_in(member.name()), resolver.document.existing(member.name()));
        let (over, local) = match &existing {
            Some(existing) => (existing.end(&at.host).device, existing.address),
            None => {
                let over = member.over();
                let is_overlay = resolver.document.links.vxlans.get(over.device.as_str()).is_some();
                let local = resolver.address(&over).filter(|_| !is_overlay);
                let underlay = self.table.underlay.as_ref();
                (over, local.and_then(|local| underlay.map_or(Some(local), |it| it.address(local))))
            }
        };
        VxlanMember {
            at,
            underlay: over.device,
            local: local.unwrap_or(UNKNOWN),
            address: member.table.address.as_ref().map(|address| address.0),
            existing: existing.is_some(),
        }
    }

    /// Reports lab namespaces that are members together with existing hosts, because they are not connected.
    fn mixed_members(&self, document: &Document, problems: &mut Vec<Problem>) {
        let is_existing = |member: &&Entry<MemberTable>| document.existing(member.name()).is_some();
        let members = || self.table.members.iter();
        if let (Some(existing), Some(lab_member)) =
            (members().find(is_existing), members().find(|member| !is_existing(member)))
        {
            let message = format!(
                "no connection between `{}`, a namespace of the lab, and the existing host `{}`",
                lab_member.name(),
                existing.name()
            );
            let help = "to include this machine, add a host with `at = \"local\"`";
            problems.push(Problem::new(lab_member.name.span(), message, "not connected").help(help));
        }
    }

    /// The lab does not know the counterparts of an existing host's addresses.
    fn underlay_of_existing(&self, document: &Document) -> Option<Problem> {
        let place = self.table.underlay.as_ref()?.span();
        let host = self.table.members.names().find(|host| document.existing(host).is_some())?;
        let message = format!("the tunnel's packets use the network of the existing host `{host}`");
        let help = "remove it; the `address` of an existing host decides the family of the tunnel's packets";
        Some(Problem::new(place, message, "no effect").help(help))
    }

    fn identifiers(&self, problems: &mut Vec<Problem>) {
        let (vni, table) = (*self.table.vni, &self.table);
        if !(1..1 << 24).contains(&vni) {
            let message = format!("{vni} is not a valid VNI");
            problems.push(Problem::new(table.vni.span(), message, "out of range").help("use 1 to 16777215"));
        }
        if let Some(port) = table.port.as_ref().filter(|port| ***port == 0) {
            let problem = Problem::new(port.span(), "the UDP port cannot be 0", "out of range");
            problems.push(problem.help("the default is 4789"));
        }
        if table.members.0.len() < 2 {
            let message = format!("the overlay `{}` has fewer than two members", self.name());
            let help = format!("add `[vxlans.{}.members.HOST]` for each host that it connects", self.name());
            problems.push(Problem::new(self.name.span(), message, "too few members").help(help));
        }
    }

    fn without_local(&self, vxlan: &Vxlan, problems: &mut Vec<Problem>) {
        let unaddressed = |member: &&VxlanMember| !member.existing && member.local.is_unspecified();
        for member in vxlan.members.iter().filter(unaddressed) {
            let Some(place) = self.place_of_over(&member.at) else { continue };
            let message = format!(
                "`{}:{}` has no address to use as the tunnel endpoint",
                member.at.host, member.underlay
            );
            let help = "an overlay needs the end of a wire, or a bridge, with an address";
            problems.push(Problem::new(place, message, "no address").help(help));
        }
    }

    fn place_of_over(&self, at: &DeviceRef) -> Option<Range<usize>> {
        Some(self.table.members.get(at.host.as_str())?.table.over.as_ref()?.span())
    }

    fn networks(&self, problems: &mut Vec<Problem>) {
        let mut first: Option<IpNet> = None;
        for address in self.table.members.iter().filter_map(|member| member.table.address.as_ref()) {
            let network = address.0.trunc();
            if *first.get_or_insert(network) != network {
                let message = format!("the members of `{}` are in different networks", self.name());
                let help = "all members of an overlay need addresses with the same prefix";
                problems.push(Problem::new(address.span(), message, "different network").help(help));
            }
        }
    }

    /// Reports duplicates. The kernel rejects a second overlay with the same VNI and port in a host.
    fn duplicates(&self, document: &Document, problems: &mut Vec<Problem>) {
        let (vni, port) = (*self.table.vni, self.port());
        let before = document.links.vxlans.iter().take_while(|other| other.name() != self.name());
        let same = before.filter(|other| *other.table.vni == vni && other.port() == port);
        let clash = same
            .filter(|other| self.table.members.names().any(|host| other.table.members.get(host).is_some()))
            .last();
        if let Some(other) = clash.map(Entry::name) {
            let message = format!("VNI {vni} on port {port} is already used by `{other}` in a shared host");
            let problem = Problem::new(self.table.vni.span(), message, "duplicate VNI");
            problems.push(problem.help("use another VNI"));
        }
    }
}

impl LinkTable for Entry<VxlanTable> {
    fn name(&self) -> &Spanned<String> {
        &self.name
    }

    fn mtu(&self) -> Option<&Spanned<u32>> {
        self.table.mtu.as_ref()
    }

    fn devices(&self, _: &Document) -> Vec<WrittenDevice> {
        let device = |member: &Entry<MemberTable>| {
            let address = member.table.address.as_ref();
            let address = address.map(|address| (address.0, address.span()));
            let device = WrittenDevice::new(self.device_in(member.name()), self.name.span());
            WrittenDevice { segment: member.name.span(), ..device.with_address(address) }
        };
        self.table.members.iter().map(device).collect()
    }

    fn convert(&mut self, converter: &mut Converter) {
        let members = self.table.members.0.iter_mut();
        members.filter_map(|member| member.table.address.as_mut()).for_each(|address| converter.put(address));
    }

    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32> {
        if let Some(mtu) = &self.table.mtu {
            return Some(**mtu);
        }
        if self.table.members.names().any(|host| document.existing(host).is_some()) {
            return Some(UNKNOWN_MTU);
        }
        let under = self.table.members.iter().map(Entry::<MemberTable>::over);
        // Tunnels are created before settings are applied, so they must fit the MTU that the underlay has at
        // creation.
        under
            .filter_map(|over| Some(mtus.effective(&over)?.min(mtus.at_creation(&over))))
            .min()
            .map(|least| least.saturating_sub(encapsulation(self.underlay(document))))
    }

    fn port_of(&self, bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        let member = self.table.members.get(&bridge.table.host)?;
        let named = member.table.bridge.as_ref()?;
        (named.get_ref() == bridge.name()).then(|| DeviceName::new(self.name()))
    }

    fn fits_existing(&self) -> bool {
        true
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let members: Vec<_> = self.table.members.iter().map(|member| self.member(member, resolver)).collect();
        let mtu = members.last().map_or(Mtus::DEFAULT, |member| resolver.mtu(&member.at));
        Some(Link::Vxlan(Vxlan {
            name: self.name().to_owned(),
            vni: *self.table.vni,
            port: self.port(),
            forwarding: self.table.fdb.unwrap_or(Forwarding::Unicast),
            mtu,
            members,
        }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        for member in self.table.members.iter() {
            if checker.host(&member.name) {
                checker.underlay(member.name(), &member.name, member.table.over.as_ref());
                let who = format!("the member `{}` of `{}`", member.name(), self.name());
                let (address, bridge) = (member.table.address.is_some(), member.table.bridge.as_ref());
                checker.address_or_bridge((&who, &member.name), member.name(), address, bridge);
            }
        }
    }

    fn check(&self, document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
        self.identifiers(problems);
        self.mixed_members(document, problems);
        problems.extend(self.underlay_of_existing(document));
        if let Some(vxlan) = resolved(draft, self.name()) {
            self.without_local(vxlan, problems);
        }
        self.networks(problems);
        self.duplicates(document, problems);
    }

    fn walk(&self, world: &World<'_>, draft: &Draft, problems: &mut Vec<Problem>) {
        let Some(vxlan) = resolved(draft, self.name()) else { return };
        // The network between existing hosts is unknown, so it cannot be checked.
        for near in vxlan.members.iter().filter(|near| !near.existing) {
            let others = vxlan.members.iter().filter(|far| far.at != near.at && !far.existing);
            let stop = others.filter_map(|far| Some((&far.at.host, unreachable(world, near, far)?))).next();
            if let (Some((far, reason)), Some(place)) = (stop, self.place_of_over(&near.at)) {
                let message =
                    format!("the tunnel `{}` of `{}` cannot reach `{far}`", vxlan.name, near.at.host);
                problems.push(Problem::new(place, message, "this underlay").help(reason));
            }
        }
    }
}

impl Entry<MemberTable> {
    fn over(&self) -> DeviceRef {
        DeviceRef::named_in(self.name(), self.table.over.as_ref().map_or("", |over| over.get_ref()))
    }
}

fn resolved<'d>(draft: &'d Draft, name: &str) -> Option<&'d Vxlan> {
    draft.lab.links.iter().find_map(|link| match link {
        Link::Vxlan(vxlan) if vxlan.name == name => Some(vxlan),
        _ => None,
    })
}

fn unreachable(world: &World<'_>, near: &VxlanMember, far: &VxlanMember) -> Option<String> {
    let stop = world.under((&near.over(), near.local), far.local).err()?;
    Some(format!("following a packet to {}, {stop}", far.local))
}

/// How an overlay finds a MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Static entries for all members, no learning.
    Unicast,
    /// Flooding to all members, and learning.
    Learning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vxlan {
    pub name: String,
    pub vni: u32,
    pub port: u16,
    pub forwarding: Forwarding,
    pub mtu: u32,
    pub members: Vec<VxlanMember>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VxlanMember {
    pub at: DeviceRef,
    pub underlay: DeviceName,
    pub local: IpAddr,
    pub address: Option<IpNet>,
    /// Whether the device is in a separate namespace on an existing host.
    #[serde(default)]
    pub existing: bool,
}

impl VxlanMember {
    fn over(&self) -> DeviceRef {
        DeviceRef { host: self.at.host.clone(), device: self.underlay.clone() }
    }
}

impl LinkKind for Vxlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn layer(&self) -> Layer {
        Layer::Vxlan
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        let members = self.members.iter().map(|member| LinkDevice {
            at: &member.at,
            mtu: self.mtu,
            address: member.address,
            over: (!member.existing).then_some(&member.underlay),
        });
        members.collect()
    }

    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>> {
        let Some(near) = self.members.iter().find(|member| member.at == *out) else { return Vec::new() };
        let others = self.members.iter().filter(|member| member.at != near.at);
        let ways = others.map(|other| Way::Tunnel {
            over: near.over(),
            local: near.local,
            remote: other.local,
            far: other.over(),
            to: &other.at,
        });
        ways.collect()
    }

    fn locate(&mut self, lab: &Lab) {
        for member in &mut self.members {
            let Some(existing) = lab.existing(&member.at.host) else { continue };
            member.underlay = existing.end(&member.at.host).device.device;
            // Packets must never be sent to a host without an agent of this run, because other software there
            // may use the port.
            member.local = existing.address.filter(|_| existing.mtu.is_some()).unwrap_or(UNKNOWN);
        }
        if self.mtu == UNKNOWN_MTU {
            let mtus = self.members.iter().filter_map(|member| lab.existing(&member.at.host)?.mtu);
            let encapsulation = encapsulation(self.underlay());
            self.mtu = mtus.min().map_or(UNKNOWN_MTU, |least| least.saturating_sub(encapsulation));
        }
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        let Some(first) = self.members.first().map(|member| &member.at) else { return Vec::new() };
        let of_member = |member: &VxlanMember| {
            [mtus.differ(first, &member.at, "other member"), self.too_big_for(mtus, member)]
        };
        self.members.iter().flat_map(of_member).flatten().collect()
    }
}

impl Vxlan {
    fn underlay(&self) -> Family {
        let known = self.members.iter().find(|member| !member.local.is_unspecified());
        known.map_or(Family::Ipv4, |member| Family::of(member.local))
    }

    fn too_big_for(&self, mtus: &Fits, member: &VxlanMember) -> Option<Misfit> {
        let (tunnel, under, encapsulation) = (&member.at, member.over(), encapsulation(self.underlay()));
        let (inner, outer) = (mtus.of(tunnel)?, mtus.of(&under)?);
        let most = outer.saturating_sub(encapsulation);
        let message = format!(
            "MTU {inner} of `{tunnel}` is too large: `{under}` has MTU {outer}, and encapsulation adds {encapsulation} bytes"
        );
        let help = format!("use {most} or less for the overlay, or a larger MTU for the wire under it");
        (inner > most).then(|| Misfit { blamed: tunnel.clone(), message, help })
    }
}

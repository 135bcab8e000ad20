//! VXLAN overlays (RFC 7348).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BridgeTable, Layer, Link, LinkDevice, LinkKind, LinkTable, Way, WrittenDevice,
    tunnel_end::{self, EndTable, TunnelEnd},
};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{Converter, Document, Entry, Section, Spanned},
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

/// A VXLAN overlay. Its device on each member has the table's name, at most 15 bytes.
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
    /// Address family of the tunnel's packets. Default: the family of the underlying device's address.
    pub(crate) underlay: Option<Spanned<Family>>,
    /// MTU of its devices. Default: the smallest MTU of the underlying devices, minus the encapsulation: 50 bytes over
    /// IPv4, 70 over IPv6.
    #[schemars(range(min = 576, max = 65485))]
    pub(crate) mtu: Option<Spanned<u32>>,
    /// Members, by host: `[vxlans.vx0.members.node1]`. At least two.
    pub(crate) members: Section<EndTable>,
}

impl Entry<VxlanTable> {
    pub(super) fn port(&self) -> u16 {
        self.table.port.as_deref().copied().unwrap_or(PORT)
    }

    /// Rejects overlays that mix lab namespaces with existing hosts, because the two are not connected.
    fn mixed_members(&self, document: &Document, problems: &mut Vec<Problem>) {
        let is_existing = |member: &&Entry<EndTable>| document.existing(member.name()).is_some();
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

    /// Rejects `underlay` if a member is an existing host. The host's `address` determines the family.
    fn underlay_of_existing(&self, document: &Document) -> Option<Problem> {
        let place = self.table.underlay.as_ref()?.span();
        let host = self.table.members.names().find(|host| document.existing(host).is_some())?;
        let message = format!("the tunnel's packets use the network of the existing host `{host}`");
        let help = "remove it; an existing host's `address` determines the family of the tunnel's packets";
        Some(Problem::new(place, message, "no effect").help(help))
    }

    fn identifiers(&self, problems: &mut Vec<Problem>) {
        let (vni, table) = (*self.table.vni, &self.table);
        if !(1..1 << 24).contains(&vni) {
            let message = format!("{vni} is not a valid VNI");
            problems.push(Problem::new(table.vni.span(), message, "out of range").help("use 1 to 16777215"));
        }
        problems.extend(tunnel_end::zero_port(table.port.as_ref(), PORT));
        if table.members.0.len() < 2 {
            let message = format!("the overlay `{}` has fewer than two members", self.name());
            let help = format!("add `[vxlans.{}.members.HOST]` for each host that it connects", self.name());
            problems.push(Problem::new(self.name.span(), message, "too few members").help(help));
        }
    }

    /// The kernel rejects a second overlay with the same VNI and port in a host.
    fn duplicates(&self, document: &Document, problems: &mut Vec<Problem>) {
        let (vni, port) = (*self.table.vni, self.port());
        let before = document.links.vxlans.iter().take_while(|other| other.name() != self.name());
        let same = before.filter(|other| *other.table.vni == vni && other.port() == port);
        let clash = same
            .filter(|other| self.table.members.names().any(|host| other.table.members.get(host).is_some()))
            .last();
        if let Some(other) = clash.map(Entry::name) {
            let message = format!("VNI {vni} on port {port} is already used by `{other}` on the same host");
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

    fn underlay(&self) -> Option<&Spanned<Family>> {
        self.table.underlay.as_ref()
    }

    fn devices(&self, _: &Document) -> Vec<WrittenDevice> {
        self.table.members.devices(&self.name)
    }

    fn convert(&mut self, converter: &mut Converter) {
        self.table.members.convert(converter);
    }

    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32> {
        if let Some(mtu) = &self.table.mtu {
            return Some(**mtu);
        }
        let members = &self.table.members;
        if members.names().any(|host| document.existing(host).is_some()) {
            return Some(UNKNOWN_MTU);
        }
        let encapsulation = encapsulation(members.family(document, self.underlay()));
        Some(members.least_underlay_mtu(mtus)?.saturating_sub(encapsulation))
    }

    fn port_of(&self, bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        self.table.members.port_of(bridge, self.name())
    }

    fn fits_existing(&self) -> bool {
        true
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let members = self.table.members.resolve(self.name(), self.underlay(), resolver);
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
        self.table.members.references(self.name(), "member", checker);
    }

    fn check(&self, document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
        self.identifiers(problems);
        self.mixed_members(document, problems);
        problems.extend(self.underlay_of_existing(document));
        if let Some(vxlan) = resolved(draft, self.name()) {
            self.table.members.without_local(&vxlan.members, problems);
        }
        self.table.members.networks(self.name(), "member", problems);
        self.duplicates(document, problems);
    }

    fn walk(&self, world: &World<'_>, draft: &Draft, problems: &mut Vec<Problem>) {
        if let Some(vxlan) = resolved(draft, self.name()) {
            self.table.members.walk(&vxlan.members, world, problems);
        }
    }
}

fn resolved<'d>(draft: &'d Draft, name: &str) -> Option<&'d Vxlan> {
    draft.lab.links.iter().find_map(|link| match link {
        Link::Vxlan(vxlan) if vxlan.name == name => Some(vxlan),
        _ => None,
    })
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
    pub members: Vec<TunnelEnd>,
}

impl LinkKind for Vxlan {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        vec![Layer::Vxlan]
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        tunnel_end::link_devices(&self.members, self.mtu)
    }

    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>> {
        tunnel_end::sent(&self.members, out)
    }

    fn locate(&mut self, lab: &Lab) {
        for member in &mut self.members {
            let Some(existing) = lab.existing(&member.at.host) else { continue };
            member.underlay = existing.end(&member.at.host).device.device;
            // Never send packets to hosts without an agent of this run. Other software there may use the port.
            member.local = existing.address.filter(|_| existing.mtu.is_some()).unwrap_or(UNKNOWN);
        }
        if self.mtu == UNKNOWN_MTU {
            let mtus = self.members.iter().filter_map(|member| lab.existing(&member.at.host)?.mtu);
            let encapsulation = encapsulation(tunnel_end::family(&self.members));
            self.mtu = mtus.min().map_or(UNKNOWN_MTU, |least| least.saturating_sub(encapsulation));
        }
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        let encapsulation = encapsulation(tunnel_end::family(&self.members));
        tunnel_end::misfits(&self.members, mtus, |outer| outer.saturating_sub(encapsulation))
    }
}

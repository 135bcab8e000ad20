//! Point-to-point tunnels.

use std::{collections::BTreeSet, net::IpAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BridgeTable, Encapsulation, Layer, Link, LinkDevice, LinkKind, LinkTable, Way, WrittenDevice,
    encapsulation,
    tunnel_end::{self, EndTable, TunnelEnd},
};
use crate::{
    check::{Checker, Fits, Misfit},
    diagnosis::Problem,
    document::{Converter, Document, Entry, Section, Spanned},
    family::{Family, UNKNOWN},
    names::{DeviceName, DeviceRef, HostName},
    packet_walk::World,
    resolve::{Draft, Mtus, Resolver},
};

/// A tunnel between two hosts. Its two devices have the table's name, at most 15 bytes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TunnelTable {
    /// The encapsulation: `geneve` and `gretap` carry Ethernet frames, `gre` IP packets. `wireguard` and `esp` (IPsec)
    /// encrypt IP packets.
    pub(crate) kind: Spanned<Encapsulation>,
    /// The VNI of `geneve` (1 to 16777215, default: 1), the key of `gre` and `gretap` (default: none), or the SPI of
    /// `esp` (256 or more, default: 256).
    #[schemars(range(min = 1))]
    pub(crate) id: Option<Spanned<u32>>,
    /// UDP port of the tunnel. Default: 6081 for `geneve`, 51820 for `wireguard`.
    #[schemars(range(min = 1))]
    pub(crate) port: Option<Spanned<u16>>,
    /// Encrypts the packets of `geneve`, `gre` or `gretap` with IPsec (ESP in transport mode) under this SPI (256 or
    /// more). Default: no encryption.
    #[schemars(range(min = 256))]
    pub(crate) spi: Option<Spanned<u32>>,
    /// Address family of the tunnel's packets. Default: the family of the underlying device's address.
    pub(crate) underlay: Option<Spanned<Family>>,
    /// MTU of its devices. Default: the largest that fits the underlying devices.
    #[schemars(range(min = 576, max = 65535))]
    pub(crate) mtu: Option<Spanned<u32>>,
    /// The two ends, by host: `[tunnels.t0.ends.node1]`.
    pub(crate) ends: Section<EndTable>,
}

impl Entry<TunnelTable> {
    fn kind(&self) -> Encapsulation {
        *self.table.kind
    }

    fn id(&self) -> Option<u32> {
        self.kind().id(self.table.id.as_deref().copied())
    }

    fn port(&self) -> Option<u16> {
        self.table.port.as_deref().copied().or(self.kind().udp_port())
    }

    fn spi(&self) -> Option<u32> {
        self.table.spi.as_deref().copied()
    }

    fn identifiers(&self, problems: &mut Vec<Problem>) {
        let (kind, table) = (self.kind(), &self.table);
        let word = kind.word();
        if let Some(id) = &table.id
            && let Some((message, help)) = invalid_id(kind, **id)
        {
            problems.push(Problem::new(id.span(), message, "not valid").help(help));
        }
        if let Some(spi) = &table.spi
            && let Some((message, help)) = invalid_spi(kind, **spi)
        {
            problems.push(Problem::new(spi.span(), message, "not valid").help(help));
        }
        match (&table.port, kind.udp_port()) {
            (Some(port), None) => {
                let message = format!("`{word}` does not use UDP, so it has no port");
                problems.push(Problem::new(port.span(), message, "no effect").help("remove it"));
            }
            (port, Some(default)) => problems.extend(tunnel_end::zero_port(port.as_ref(), default)),
            (None, None) => {}
        }
    }

    fn ends(&self, problems: &mut Vec<Problem>) {
        let ends = &self.table.ends;
        if ends.0.len() != 2 {
            let message = format!("the tunnel `{}` has {} ends instead of two", self.name(), ends.0.len());
            let help = format!(
                "write `[tunnels.{}.ends.HOST]` for two hosts; `[vxlans]` can connect more",
                self.name()
            );
            problems.push(Problem::new(self.name.span(), message, "not two ends").help(help));
        }
        let bridges = ends.iter().filter_map(|end| end.table.bridge.as_ref());
        for bridge in bridges.filter(|_| !self.kind().carries_ethernet()) {
            let message =
                format!("`{}` carries IP packets and cannot be the port of a bridge", self.kind().word());
            let help = "set an `address`, or use `geneve` or `gretap`";
            problems.push(Problem::new(bridge.span(), message, "no Ethernet").help(help));
        }
    }

    fn families(&self, draft: &Draft, tunnel: &Tunnel, problems: &mut Vec<Problem>) {
        let inner = tunnel.ends.iter().filter_map(|end| Some(Family::of(end.address?.addr())));
        let mut all = inner.chain([tunnel_end::family(&tunnel.ends)]).chain(draft.lab.second_family);
        let first = all.next();
        if self.kind().keeps_family() && all.any(|family| Some(family) != first) {
            let message = format!("`{}` carries only packets of its own family", self.kind().word());
            let help = "run with `-4` or `-6`, or remove this tunnel";
            problems.push(Problem::new(self.name.span(), message, "two families").help(help));
        }
    }

    /// Reports tunnels that the kernel of a host cannot distinguish.
    fn duplicates(&self, draft: &Draft, tunnel: &Tunnel, problems: &mut Vec<Problem>) {
        let shared = |other: &Tunnel| {
            let known = tunnel.identities().find(|identity| other.identities().any(|it| it == *identity));
            known.map(|(host, ..)| (host.clone(), other.name.clone()))
        };
        if let Some((host, other)) = earlier(draft, tunnel).find_map(shared) {
            let message = format!("`{host}` cannot distinguish the tunnels `{}` and `{other}`", self.name());
            let place = self.table.id.as_ref().map_or_else(|| self.name.span(), Spanned::span);
            problems.push(Problem::new(place, message, "duplicate tunnel").help("use another `id`"));
        }
    }

    /// Reports tunnels with common addresses that IPsec cannot distinguish.
    fn mixed_encryption(&self, draft: &Draft, tunnel: &Tunnel, problems: &mut Vec<Problem>) {
        let shares_end =
            |other: &&Tunnel| tunnel.locals().any(|local| other.locals().any(|its| its == local));
        for other in earlier(draft, tunnel).filter(shares_end) {
            let (spi, its) = (tunnel.security_parameter(), other.security_parameter());
            let shares_flow = tunnel.spi.or(other.spi).is_some() && tunnel.flow() == other.flow();
            let (message, help) = if shares_flow {
                let message =
                    format!("IPsec cannot distinguish the packets of `{}` and `{}`", other.name, self.name());
                (message, if tunnel.port.is_some() { "use another `port`" } else { "use other addresses" })
            } else if spi.is_some() && spi == its {
                (format!("`{}` has the same SPI", other.name), "use another SPI")
            } else {
                continue;
            };
            let place = self.table.spi.as_ref().map_or_else(|| self.name.span(), Spanned::span);
            problems.push(Problem::new(place, message, "mixed up").help(help));
        }
    }

    fn shared_port(&self, document: &Document, problems: &mut Vec<Problem>) {
        let is_end = |host: &str| self.table.ends.get(host).is_some();
        let tunnels = document.links.tunnels.iter().take_while(|other| other.name() != self.name());
        let tunnels = tunnels.filter(|other| self.kind().owns_port() || other.kind() != self.kind());
        let tunnels = tunnels.filter(|other| other.table.ends.names().any(is_end));
        let overlays = document.links.vxlans.iter();
        let overlays = overlays.filter(|other| other.table.members.names().any(is_end));
        let ports = tunnels.filter_map(|other| Some((other.name(), other.port()?)));
        let mut ports = ports.chain(overlays.map(|other| (other.name(), other.port())));
        if let Some((other, port)) = ports.find(|(_, port)| Some(*port) == self.port()) {
            let message = format!("UDP port {port} is already used by `{other}` on the same host");
            let place = self.table.port.as_ref().map_or_else(|| self.name.span(), Spanned::span);
            problems.push(Problem::new(place, message, "duplicate port").help("use another `port`"));
        }
    }
}

fn invalid_id(kind: Encapsulation, id: u32) -> Option<(String, String)> {
    let word = kind.word();
    let Some(identifier) = kind.identifier() else {
        return Some((format!("`{word}` has no identifier"), "remove it".to_owned()));
    };
    let (name, valid) = (identifier.name, identifier.valid);
    let message = format!("{id} is not a valid {name} of `{word}`");
    (!valid.contains(&id)).then(|| (message, format!("use {} to {}", valid.start(), valid.end())))
}

fn invalid_spi(kind: Encapsulation, spi: u32) -> Option<(String, String)> {
    let valid = encapsulation::SPI.valid;
    if kind.encrypts() {
        return Some((format!("`{}` already encrypts", kind.word()), "remove it".to_owned()));
    }
    let help = format!("use {} to {}", valid.start(), valid.end());
    (!valid.contains(&spi)).then(|| (format!("{spi} is not a valid SPI"), help))
}

impl LinkTable for Entry<TunnelTable> {
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
        self.table.ends.devices(&self.name)
    }

    fn convert(&mut self, converter: &mut Converter) {
        self.table.ends.convert(converter);
    }

    fn made_mtu(&self, document: &Document, mtus: &Mtus) -> Option<u32> {
        if let Some(mtu) = &self.table.mtu {
            return Some(**mtu);
        }
        let underlay = self.table.ends.family(document, self.underlay());
        let outer = self.table.ends.least_underlay_mtu(mtus)?;
        Some(self.kind().largest_mtu(outer, underlay, self.id(), self.spi().is_some()))
    }

    fn port_of(&self, bridge: &Entry<BridgeTable>) -> Option<DeviceName> {
        self.table.ends.port_of(bridge, self.name())
    }

    fn link(&self, resolver: &Resolver<'_>) -> Option<Link> {
        let ends = self.table.ends.resolve(self.name(), self.underlay(), resolver);
        let mtu = resolver.mtu(&ends.first()?.at);
        let (name, encapsulation) = (self.name().to_owned(), self.kind());
        let (id, port, spi) = (self.id(), self.port(), self.spi());
        Some(Link::Tunnel(Tunnel { name, encapsulation, id, port, spi, mtu, ends }))
    }

    fn references(&self, checker: &mut Checker<'_>) {
        self.table.ends.references(self.name(), "end", checker);
    }

    fn check(&self, document: &Document, draft: &Draft, problems: &mut Vec<Problem>) {
        self.identifiers(problems);
        self.ends(problems);
        if let Some(tunnel) = resolved(draft, self.name()) {
            self.table.ends.without_local(&tunnel.ends, problems);
            self.families(draft, tunnel, problems);
            self.duplicates(draft, tunnel, problems);
            self.mixed_encryption(draft, tunnel, problems);
        }
        self.table.ends.networks(self.name(), "end", problems);
        self.shared_port(document, problems);
    }

    fn walk(&self, world: &World<'_>, draft: &Draft, problems: &mut Vec<Problem>) {
        if let Some(tunnel) = resolved(draft, self.name()) {
            self.table.ends.walk(&tunnel.ends, world, problems);
        }
    }
}

fn resolved<'d>(draft: &'d Draft, name: &str) -> Option<&'d Tunnel> {
    draft.lab.links.iter().filter_map(as_tunnel).find(|tunnel| tunnel.name == name)
}

fn earlier<'d>(draft: &'d Draft, tunnel: &Tunnel) -> impl Iterator<Item = &'d Tunnel> {
    draft.lab.links.iter().filter_map(as_tunnel).take_while(|other| other.name != tunnel.name)
}

fn as_tunnel(link: &Link) -> Option<&Tunnel> {
    match link {
        Link::Tunnel(tunnel) => Some(tunnel),
        _ => None,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunnel {
    pub name: String,
    pub encapsulation: Encapsulation,
    pub id: Option<u32>,
    pub port: Option<u16>,
    /// If set, the tunnel's packets are encrypted by ESP in transport mode under this SPI.
    #[serde(default)]
    pub spi: Option<u32>,
    pub mtu: u32,
    pub ends: Vec<TunnelEnd>,
}

type Identity<'t> = (&'t HostName, Encapsulation, Option<u32>, Option<u16>, Vec<IpAddr>);

impl Tunnel {
    fn security_parameter(&self) -> Option<u32> {
        if self.encapsulation == Encapsulation::Esp { self.id } else { self.spi }
    }

    fn locals(&self) -> impl Iterator<Item = IpAddr> {
        self.ends.iter().map(|end| end.local).filter(|local| *local != UNKNOWN)
    }

    /// The port is `None` for GRE.
    fn flow(&self) -> (bool, Option<u16>, BTreeSet<IpAddr>) {
        (self.encapsulation.encrypts(), self.port, self.locals().collect())
    }

    /// Returns what must be unique in each host: for ESP the identifier of the XFRM interface, for GENEVE the
    /// VNI, port and remote address, and for GRE the key and both addresses.
    fn identities(&self) -> impl Iterator<Item = Identity<'_>> {
        use Encapsulation::{Esp, Geneve, Gre, Gretap, Wireguard};
        let ends = self.ends.iter().zip(self.ends.iter().rev());
        ends.filter_map(|(near, far)| {
            let addresses = match self.encapsulation {
                Wireguard => return None,
                Esp => vec![],
                Geneve => vec![far.local],
                Gre | Gretap => vec![near.local, far.local],
            };
            let known = !addresses.contains(&UNKNOWN);
            known.then_some((&near.at.host, self.encapsulation, self.id, self.port, addresses))
        })
    }
}

impl LinkKind for Tunnel {
    fn name(&self) -> &str {
        &self.name
    }

    fn layers(&self) -> Vec<Layer> {
        [self.encapsulation.layer()].into_iter().chain(self.spi.map(|_| Layer::Esp)).collect()
    }

    fn devices(&self) -> Vec<LinkDevice<'_>> {
        tunnel_end::link_devices(&self.ends, self.mtu)
    }

    fn sent(&self, out: &DeviceRef) -> Vec<Way<'_>> {
        tunnel_end::sent(&self.ends, out)
    }

    fn modules(&self) -> Vec<&'static str> {
        let encryption = self.spi.map_or(&[][..], |_| Encapsulation::Esp.modules());
        [self.encapsulation.modules(), encryption].concat()
    }

    fn misfits(&self, mtus: &Fits) -> Vec<Misfit> {
        let underlay = tunnel_end::family(&self.ends);
        let most = |outer| self.encapsulation.largest_mtu(outer, underlay, self.id, self.spi.is_some());
        tunnel_end::misfits(&self.ends, mtus, most)
    }
}

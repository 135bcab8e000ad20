//! Point-to-point tunnels (linux/if_link.h, linux/if_tunnel.h).

mod esp;
mod wireguard;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nlink::netlink::{
    AttrIter, MessageBuilder,
    link::{
        GeneveDf, GeneveLink, GreLink, GretapLink, Ip6GreLink, Ip6GretapLink, LinkConfig, WireguardLink,
        XfrmLink,
    },
};
use scenario::{
    DeviceName, DeviceRef, Lab,
    link::{Encapsulation, Tunnel, TunnelEnd},
};

use super::{LinkKind, Site, behind};
use crate::{
    device_kind::DeviceKind,
    devices::{Device, Peer},
    error::CreateError,
    message::Request,
    missing_capabilities::Element,
    read_back::{self, u32_at},
    refusal::Refusal,
    scratch,
    trial::{Attempt, Trial},
};

/// The initial TTL that RFC 1700 recommends and Linux uses for its own packets.
const TTL: u8 = 64;
/// iproute2's default for GRE over IPv6 (`IPV6_DEFAULT_TNL_ENCAP_LIMIT`).
const ENCAPSULATION_LIMIT: u8 = 4;

pub(super) const GENEVE: Trial = Trial {
    name: "geneve",
    done: "created a GENEVE tunnel between two namespaces",
    remedy: "modprobe geneve (CONFIG_GENEVE)",
    ..trial(|| smallest(Encapsulation::Geneve))
};

pub(super) const GRE: Trial = Trial {
    name: "gre",
    done: "created a GRE tunnel between two namespaces",
    remedy: "modprobe ip_gre (CONFIG_NET_IPGRE)",
    ..trial(|| smallest(Encapsulation::Gre))
};

pub(super) const GRETAP: Trial = Trial {
    name: "gretap",
    done: "created a GRETAP tunnel between two namespaces",
    ..Trial { attempt: Attempt::Lab(|| smallest(Encapsulation::Gretap)), ..GRE }
};

pub(super) const WIREGUARD: Trial = Trial {
    name: "wireguard",
    done: "created a WireGuard tunnel between two namespaces",
    remedy: "modprobe wireguard (CONFIG_WIREGUARD)",
    ..trial(|| smallest(Encapsulation::Wireguard))
};

pub(super) const ESP: Trial = Trial {
    name: "esp",
    done: "created an IPsec tunnel between two namespaces",
    remedy: "modprobe -a xfrm_interface xfrm_user esp4 (CONFIG_XFRM_INTERFACE, CONFIG_XFRM_USER, CONFIG_INET_ESP)",
    ..trial(|| smallest(Encapsulation::Esp))
};

const fn trial(lab: fn() -> Lab) -> Trial {
    Trial {
        name: "",
        done: "",
        needed_for: "tunnels",
        remedy: "",
        required: true,
        attempt: Attempt::Lab(lab),
    }
}

fn smallest(encapsulation: Encapsulation) -> Lab {
    let mut lab = scratch::wire();
    let end = |host, local| TunnelEnd {
        at: DeviceRef::new(host, "tunnel"),
        underlay: DeviceName::new("eth0"),
        local,
        address: None,
        existing: false,
    };
    let ends = vec![end("near", scratch::NEAR), end("far", scratch::FAR)];
    let (id, port, spi, mtu) = (Some(1000), Some(6081), None, 1280);
    lab.links.push(Tunnel { name: "tunnel".into(), encapsulation, id, port, spi, mtu, ends }.into());
    lab
}

impl LinkKind for Tunnel {
    fn noun(&self) -> &'static str {
        self.encapsulation.word()
    }

    fn needs(&self) -> Vec<&'static str> {
        let esp = self.spi.map(|_| ESP.name);
        [self.encapsulation.word()].into_iter().chain(esp).collect()
    }

    fn device(&self, at: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        let over_ipv4 = self.ends.iter().any(|end| end.at == *at && end.local.is_ipv4());
        Some(match (self.encapsulation, over_ipv4) {
            (Encapsulation::Geneve, _) => DeviceKind::Geneve,
            (Encapsulation::Gre, true) => DeviceKind::Gre,
            (Encapsulation::Gre, false) => DeviceKind::Ip6Gre,
            (Encapsulation::Gretap, true) => DeviceKind::Gretap,
            (Encapsulation::Gretap, false) => DeviceKind::Ip6Gretap,
            (Encapsulation::Wireguard, _) => DeviceKind::Wireguard,
            (Encapsulation::Esp, _) => DeviceKind::Xfrm,
        })
    }

    fn has_mac(&self) -> bool {
        self.encapsulation.carries_ethernet()
    }

    fn behind(&self, at: &DeviceRef) -> Vec<Peer> {
        behind(&self.ends, at)
    }

    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        let mut requests = Vec::new();
        for (near, far) in self.ends.iter().zip(self.ends.iter().rev()) {
            if site.namespaces.get(&near.at.host).is_none() {
                continue;
            }
            let write = |device: &Device, under: u32, message: &mut MessageBuilder| {
                write(self, (near, far), device, under, message);
            };
            requests.extend(site.create_over(self.noun(), &near.at, &near.underlay, element, write)?);
        }
        Ok(requests)
    }

    fn expected(&self, at: &DeviceRef) -> String {
        let ends = self.ends.iter().zip(self.ends.iter().rev());
        let Some((near, far)) = ends.into_iter().find(|(near, _)| near.at == *at) else {
            return String::new();
        };
        let id = self.id.unwrap_or_default();
        match self.encapsulation {
            Encapsulation::Geneve => described_geneve(id, self.port.unwrap_or_default(), far.local),
            Encapsulation::Gre | Encapsulation::Gretap => described_gre(id, near.local, far.local),
            Encapsulation::Esp => described_esp(id),
            Encapsulation::Wireguard => String::new(),
        }
    }

    fn reported(&self, data: &[u8]) -> String {
        reported(self.encapsulation, data).unwrap_or_default()
    }

    fn finish(&self, site: &Site<'_>) -> Result<(), Refusal> {
        match self.encapsulation {
            Encapsulation::Wireguard => wireguard::exchange_keys(self, &site.namespaces),
            Encapsulation::Esp => esp::encrypt_inner_packets(self, &site.namespaces),
            Encapsulation::Geneve | Encapsulation::Gre | Encapsulation::Gretap => {
                esp::encrypt_outer_packets(self, &site.namespaces)
            }
        }
    }
}

fn described_geneve(id: u32, port: u16, remote: IpAddr) -> String {
    format!("VNI {id} to {remote} on port {port}")
}

fn described_gre(key: u32, local: IpAddr, remote: IpAddr) -> String {
    format!("key {key} from {local} to {remote}")
}

fn described_esp(id: u32) -> String {
    format!("interface ID {id}")
}

fn reported(encapsulation: Encapsulation, data: &[u8]) -> Option<String> {
    let find = |wanted: u16| AttrIter::new(data).find(|(attribute, _)| *attribute == wanted).map(|(_, v)| v);
    let address = |wanted: u16| read_back::ip(find(wanted)?);
    Some(match encapsulation {
        // IFLA_GENEVE_ID, _PORT, _REMOTE and _REMOTE6.
        Encapsulation::Geneve => {
            let port = u16::from_be_bytes(find(5)?.try_into().ok()?);
            described_geneve(u32_at(find(1)?)?, port, address(2).or_else(|| address(7))?)
        }
        // IFLA_GRE_IKEY, _LOCAL and _REMOTE.
        Encapsulation::Gre | Encapsulation::Gretap => {
            described_gre(u32::from_be(u32_at(find(4)?)?), address(6)?, address(7)?)
        }
        // IFLA_XFRM_IF_ID.
        Encapsulation::Esp => described_esp(u32_at(find(2)?)?),
        Encapsulation::Wireguard => return None,
    })
}

fn random<const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).expect("without random bytes there is no key");
    bytes
}

fn write(
    tunnel: &Tunnel,
    (near, far): (&TunnelEnd, &TunnelEnd),
    device: &Device,
    under: u32,
    message: &mut MessageBuilder,
) {
    let name = near.at.device.as_str();
    match (tunnel.encapsulation, near.local, far.local) {
        (Encapsulation::Geneve, _, remote) => {
            let link = GeneveLink::new(name, tunnel.id.unwrap_or_default());
            let link = match remote {
                IpAddr::V4(remote) => link.remote(remote),
                IpAddr::V6(remote) => link.remote6(remote),
            };
            let link = link.mtu(device.mtu).address(device.mac).ttl(TTL).df(GeneveDf::Unset);
            tunnel.port.into_iter().fold(link, GeneveLink::port).write_to(message, None);
        }
        (Encapsulation::Wireguard, ..) => WireguardLink::new(name).mtu(device.mtu).write_to(message, None),
        (Encapsulation::Esp, ..) => {
            XfrmLink::new(name, tunnel.id.unwrap_or_default()).mtu(device.mtu).write_to(message, Some(under));
        }
        (encapsulation, IpAddr::V4(local), IpAddr::V4(remote)) => {
            over_ipv4(encapsulation, name, (local, remote), tunnel.id, device).write_to(message, Some(under));
        }
        (encapsulation, IpAddr::V6(local), IpAddr::V6(remote)) => {
            over_ipv6(encapsulation, name, (local, remote), tunnel.id, device).write_to(message, Some(under));
        }
        (_, IpAddr::V4(_), IpAddr::V6(_)) | (_, IpAddr::V6(_), IpAddr::V4(_)) => {}
    }
}

fn over_ipv4(
    encapsulation: Encapsulation,
    name: &str,
    (local, remote): (Ipv4Addr, Ipv4Addr),
    key: Option<u32>,
    device: &Device,
) -> Box<dyn LinkConfig> {
    if encapsulation.carries_ethernet() {
        let link = GretapLink::new(name).local(local).remote(remote).mtu(device.mtu).address(device.mac);
        Box::new(key.into_iter().fold(link.ttl(TTL).pmtudisc(true), GretapLink::key))
    } else {
        let link = GreLink::new(name).local(local).remote(remote).mtu(device.mtu);
        Box::new(key.into_iter().fold(link.ttl(TTL).pmtudisc(true), GreLink::key))
    }
}

fn over_ipv6(
    encapsulation: Encapsulation,
    name: &str,
    (local, remote): (Ipv6Addr, Ipv6Addr),
    key: Option<u32>,
    device: &Device,
) -> Box<dyn LinkConfig> {
    let limit = ENCAPSULATION_LIMIT;
    if encapsulation.carries_ethernet() {
        let link = Ip6GretapLink::new(name).local(local).remote(remote).mtu(device.mtu).address(device.mac);
        Box::new(key.into_iter().fold(link.ttl(TTL).encap_limit(limit), Ip6GretapLink::key))
    } else {
        let link = Ip6GreLink::new(name).local(local).remote(remote).mtu(device.mtu);
        Box::new(key.into_iter().fold(link.ttl(TTL).encap_limit(limit), Ip6GreLink::key))
    }
}

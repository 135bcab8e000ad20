//! The encapsulations of point-to-point tunnels, and how they differ.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Layer;
use crate::family::Family;

/// How a tunnel encapsulates packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encapsulation {
    /// Ethernet frames over UDP (RFC 8926).
    Geneve,
    /// IP packets over IP (RFC 2784).
    Gre,
    /// Ethernet frames over GRE.
    Gretap,
    /// Encrypted IP packets over UDP (<https://www.wireguard.com/protocol/>).
    Wireguard,
    /// Encrypted IP packets: IPsec ESP in tunnel mode (RFC 4303) with AES-GCM (RFC 4106).
    Esp,
}

/// Lengths are in bytes.
struct Facts {
    layer: Layer,
    carries_ethernet: bool,
    /// Headers after the outer IP header, and trailers.
    headers: u32,
    /// Whether the inner packet is padded, so that the packet and a trailer of 2 bytes end on a 4-byte boundary.
    pads: bool,
    /// Extension headers over IPv6.
    ipv6_options: u32,
    id_header: u32,
    id: Option<Identifier>,
    udp_port: Option<u16>,
    /// Kernel modules to load, in this order, before the first device is created. Some kernels lack some modules.
    modules: &'static [&'static str],
}

pub(super) struct Identifier {
    pub(super) name: &'static str,
    pub(super) valid: RangeInclusive<u32>,
    default: Option<u32>,
}

const ETHERNET: u32 = 14;
const UDP: u32 = 8;
/// The SPI, the sequence number, an initialization vector of 8 bytes and a tag of 16 bytes.
const ESP_HEADERS: u32 = 4 + 4 + 8 + 16;

/// The size of the destination option that limits tunnel nesting (RFC 2473, section 4.1.1; iproute2's default is 4).
const ENCAPSULATION_LIMIT: u32 = 8;

/// RFC 2890, section 2.
const KEY: Identifier = Identifier { name: "key", valid: 1..=u32::MAX, default: None };

pub(super) const SPI: Identifier = Identifier { name: "SPI", valid: 256..=u32::MAX, default: Some(256) };

const GENEVE: Facts = Facts {
    layer: Layer::Geneve,
    carries_ethernet: true,
    headers: UDP + 8,
    pads: false,
    ipv6_options: 0,
    id_header: 0,
    id: Some(Identifier { name: "VNI", valid: 1..=(1 << 24) - 1, default: Some(1) }),
    udp_port: Some(6081),
    modules: &["geneve"],
};

const GRE: Facts = Facts {
    layer: Layer::Gre,
    carries_ethernet: false,
    headers: 4,
    pads: false,
    ipv6_options: ENCAPSULATION_LIMIT,
    id_header: 4,
    id: Some(KEY),
    udp_port: None,
    modules: &["ip_gre", "ip6_gre"],
};

/// A data message has a header and a tag of 16 bytes each. Linux pads packets to a multiple of 16 bytes, but not above
/// the MTU.
const WIREGUARD: Facts = Facts {
    layer: Layer::Wireguard,
    carries_ethernet: false,
    headers: UDP + 16 + 16,
    pads: false,
    ipv6_options: 0,
    id_header: 0,
    id: None,
    udp_port: Some(51820),
    modules: &["wireguard"],
};

const ESP: Facts = Facts {
    layer: Layer::Esp,
    carries_ethernet: false,
    headers: ESP_HEADERS,
    pads: true,
    ipv6_options: 0,
    id_header: 0,
    id: Some(SPI),
    udp_port: None,
    // `seqiv` needs a random number generator, which `drbg` provides.
    modules: &[
        "sha512_generic",
        "hmac",
        "drbg",
        "ctr",
        "gcm",
        "seqiv",
        "aesni_intel",
        "xfrm_user",
        "xfrm_interface",
        "esp4",
        "esp6",
    ],
};

impl Encapsulation {
    const fn facts(self) -> Facts {
        match self {
            Self::Geneve => GENEVE,
            Self::Gre => GRE,
            Self::Gretap => Facts { layer: Layer::Gretap, carries_ethernet: true, ..GRE },
            Self::Wireguard => WIREGUARD,
            Self::Esp => ESP,
        }
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        self.layer().word()
    }

    #[must_use]
    pub fn layer(self) -> Layer {
        self.facts().layer
    }

    #[must_use]
    pub fn carries_ethernet(self) -> bool {
        self.facts().carries_ethernet
    }

    pub(super) fn encrypts(self) -> bool {
        matches!(self, Self::Wireguard | Self::Esp)
    }

    /// ESP carries only packets of its underlay's family, because a security association's selector has one
    /// family.
    pub(super) fn keeps_family(self) -> bool {
        self == Self::Esp
    }

    /// WireGuard tunnels cannot share a UDP port.
    pub(super) fn owns_port(self) -> bool {
        self == Self::Wireguard
    }

    pub(super) fn identifier(self) -> Option<Identifier> {
        self.facts().id
    }

    pub(super) fn id(self, written: Option<u32>) -> Option<u32> {
        written.or(self.facts().id?.default)
    }

    pub(super) fn udp_port(self) -> Option<u16> {
        self.facts().udp_port
    }

    pub(super) fn modules(self) -> &'static [&'static str] {
        self.facts().modules
    }

    /// `outer` is the underlay's MTU.
    pub(super) fn largest_mtu(
        self,
        outer: u32,
        underlay: Family,
        id: Option<u32>,
        is_encrypted: bool,
    ) -> u32 {
        let Facts { carries_ethernet, headers, pads, ipv6_options, id_header, .. } = self.facts();
        let added = [
            (true, headers),
            (underlay == Family::Ipv6, ipv6_options),
            (id.is_some(), id_header),
            (carries_ethernet, ETHERNET),
        ];
        let added: u32 = added.iter().filter(|(applies, _)| *applies).map(|(_, bytes)| bytes).sum();
        let room = outer.saturating_sub(underlay.header());
        let room = if is_encrypted { padded(room.saturating_sub(ESP_HEADERS)) } else { room };
        let room = room.saturating_sub(added);
        if pads { padded(room) } else { room }
    }
}

/// Returns the largest packet that fits after padding, with the trailer (RFC 4303, section 2.4).
fn padded(room: u32) -> u32 {
    (room / 4 * 4).saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_packets_fill_the_underlay() {
        use Encapsulation::{Esp, Geneve, Gre, Gretap, Wireguard};
        for (encapsulation, id, ipv4, ipv6) in [
            (Geneve, Some(1), 1450, 1430),
            (Gre, None, 1476, 1448),
            (Gre, Some(7), 1472, 1444),
            (Gretap, None, 1462, 1434),
            (Wireguard, None, 1440, 1420),
            (Esp, Some(256), 1446, 1426),
        ] {
            let mtu = |underlay| encapsulation.largest_mtu(1500, underlay, id, false);
            assert_eq!((mtu(Family::Ipv4), mtu(Family::Ipv6)), (ipv4, ipv6), "{encapsulation:?}");
        }
    }
}

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
}

/// Lengths are in bytes.
struct Facts {
    layer: Layer,
    carries_ethernet: bool,
    /// The headers between the outer IP header and the inner packet or frame.
    headers: u32,
    /// Extension headers that Linux adds over IPv6.
    ipv6_options: u32,
    /// The header of the optional identifier.
    id_header: u32,
    id: Option<Identifier>,
    udp_port: Option<u16>,
    /// Kernel modules that must be loaded before the first device is created.
    modules: &'static [&'static str],
}

pub(super) struct Identifier {
    pub(super) name: &'static str,
    pub(super) valid: RangeInclusive<u32>,
    default: Option<u32>,
}

const ETHERNET: u32 = 14;

/// Linux sets a limit of 4 nested tunnels by default, in a destination option (RFC 2473, section 4.1.1).
const ENCAPSULATION_LIMIT: u32 = 8;

/// RFC 2890, section 2.
const KEY: Identifier = Identifier { name: "key", valid: 1..=u32::MAX, default: None };

const GRE: Facts = Facts {
    layer: Layer::Gre,
    carries_ethernet: false,
    headers: 4,
    ipv6_options: ENCAPSULATION_LIMIT,
    id_header: 4,
    id: Some(KEY),
    udp_port: None,
    modules: &["ip_gre", "ip6_gre"],
};

impl Encapsulation {
    const fn facts(self) -> Facts {
        match self {
            Self::Geneve => Facts {
                layer: Layer::Geneve,
                carries_ethernet: true,
                headers: 8 + 8,
                ipv6_options: 0,
                id_header: 0,
                id: Some(Identifier { name: "VNI", valid: 1..=(1 << 24) - 1, default: Some(1) }),
                udp_port: Some(6081),
                modules: &["geneve"],
            },
            Self::Gre => GRE,
            Self::Gretap => Facts { layer: Layer::Gretap, carries_ethernet: true, ..GRE },
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

    /// Returns the largest MTU of a tunnel over an underlay with the MTU `outer`.
    pub(super) fn largest_mtu(self, outer: u32, underlay: Family, id: Option<u32>) -> u32 {
        let Facts { carries_ethernet, headers, ipv6_options, id_header, .. } = self.facts();
        let added = [
            (true, underlay.header() + headers),
            (underlay == Family::Ipv6, ipv6_options),
            (id.is_some(), id_header),
            (carries_ethernet, ETHERNET),
        ];
        let added: u32 = added.iter().filter(|(applies, _)| *applies).map(|(_, bytes)| bytes).sum();
        outer.saturating_sub(added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_packets_fill_the_underlay() {
        use Encapsulation::{Geneve, Gre, Gretap};
        for (encapsulation, id, ipv4, ipv6) in [
            (Geneve, Some(1), 1450, 1430),
            (Gre, None, 1476, 1448),
            (Gre, Some(7), 1472, 1444),
            (Gretap, None, 1462, 1434),
        ] {
            let mtu = |underlay| encapsulation.largest_mtu(1500, underlay, id);
            assert_eq!((mtu(Family::Ipv4), mtu(Family::Ipv6)), (ipv4, ipv6), "{encapsulation:?}");
        }
    }
}

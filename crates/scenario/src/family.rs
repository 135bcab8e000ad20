//! Address families, and the conversion of addresses between them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ranges reserved for benchmarks of network devices (RFC 2544, appendix C.2.2, and RFC 5180, section 8).
const BENCHMARK: [IpNet; 2] = [
    IpNet::new_assert(IpAddr::V4(Ipv4Addr::new(198, 18, 0, 0)), 15),
    IpNet::new_assert(IpAddr::V6(COUNTERPARTS), 48),
];

/// The IPv6 counterpart of an IPv4 address is this prefix followed by the IPv4 address. Prefixes are 96 bits
/// longer, so two addresses share a network in both families or in neither.
const COUNTERPARTS: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0);
const COUNTERPART_BITS: u8 = 96;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
}

impl Family {
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::Ipv4 } else { Self::Ipv6 }
    }

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }

    #[must_use]
    pub fn header(self) -> u32 {
        workload::ip_header(self == Self::Ipv4)
    }

    /// The packet size in bytes that every link or path must support (RFC 791, RFC 8200, section 5).
    #[must_use]
    pub fn least_mtu(self) -> u32 {
        match self {
            Self::Ipv4 => 576,
            Self::Ipv6 => workload::LEAST_IPV6_MTU,
        }
    }

    #[must_use]
    pub fn benchmark(self) -> IpNet {
        BENCHMARK[self as usize]
    }

    /// Converts an address to this family. Most IPv6 addresses have no IPv4 counterpart.
    #[must_use]
    pub fn address(self, address: IpAddr) -> Option<IpAddr> {
        match (self, address) {
            (Self::Ipv6, IpAddr::V4(address)) => {
                Some(Ipv6Addr::from_bits(COUNTERPARTS.to_bits() | u128::from(address.to_bits())).into())
            }
            (Self::Ipv4, IpAddr::V6(address)) => {
                let bits = u32::try_from(address.to_bits() ^ COUNTERPARTS.to_bits()).ok()?;
                Some(Ipv4Addr::from_bits(bits).into())
            }
            _ => Some(address),
        }
    }

    /// Like [`Self::address`]. A default route becomes a default route.
    #[must_use]
    pub fn network(self, network: IpNet) -> Option<IpNet> {
        let (address, length) = (network.addr(), network.prefix_len());
        if self == Self::of(address) {
            return Some(network);
        }
        let (counterpart, length) = match self {
            _ if length == 0 && address.is_unspecified() => return Some(self.default_route()),
            Self::Ipv4 => (self.address(address)?, length.checked_sub(COUNTERPART_BITS)?),
            Self::Ipv6 => (self.address(address)?, length + COUNTERPART_BITS),
        };
        IpNet::new(counterpart, length).ok()
    }

    pub(crate) fn default_route(self) -> IpNet {
        match self {
            Self::Ipv4 => Ipv4Net::default().into(),
            Self::Ipv6 => Ipv6Net::default().into(),
        }
    }
}

/// Placeholder for an address that a host has not reported yet.
pub(crate) const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counterpart_has_the_same_place_in_its_network() {
        for (ipv4, ipv6) in [
            ("198.18.1.2/24", "2001:2::c612:102/120"),
            ("198.18.64.0/19", "2001:2::c612:4000/115"),
            ("198.19.255.1/32", "2001:2::c613:ff01/128"),
            ("0.0.0.0/0", "::/0"),
        ] {
            let [ipv4, ipv6] = [ipv4, ipv6].map(|text| text.parse::<IpNet>().unwrap());
            assert_eq!(Family::Ipv6.network(ipv4), Some(ipv6));
            assert_eq!(Family::Ipv4.network(ipv6), Some(ipv4));
            assert_eq!(Family::Ipv6.network(ipv6), Some(ipv6));
            assert!(ipv4.prefix_len() == 0 || Family::Ipv6.benchmark().contains(&ipv6));
        }
    }

    #[test]
    fn other_ipv6_addresses_have_no_counterpart() {
        for text in ["2001:2:0:1::1/64", "2001:db8::1/128", "2001:2::/64", "fe80::1/64"] {
            assert_eq!(Family::Ipv4.network(text.parse().unwrap()), None, "{text}");
        }
    }
}

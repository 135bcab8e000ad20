//! Matches peer addresses against a list of prefixes.

use std::net::IpAddr;

use traffic::{Error, Result};

/// An empty list allows all peers.
#[derive(Debug)]
pub(super) struct AllowList(Vec<Prefix>);

#[derive(Debug)]
struct Prefix {
    bits: u128,
    v4: bool,
    length: u8,
}

impl AllowList {
    /// Fails if a prefix is longer than its address.
    pub(super) fn new(prefixes: &[(IpAddr, u8)]) -> Result<Self> {
        prefixes
            .iter()
            .map(|&(address, length)| Prefix::new(address, length))
            .collect::<Result<_>>()
            .map(Self)
    }

    /// IPv4-mapped IPv6 addresses are treated as IPv4.
    pub(super) fn has(&self, address: IpAddr) -> bool {
        let (bits, v4) = bits(address);
        self.0.is_empty() || self.0.iter().any(|prefix| prefix.v4 == v4 && prefix.covers(bits))
    }
}

impl Prefix {
    fn new(address: IpAddr, length: u8) -> Result<Self> {
        let (bits, v4) = bits(address);
        if length > if v4 { 32 } else { 128 } {
            let value = format!("{address}/{length}");
            return Err(Error::Setting { setting: "an allowed prefix", value, allowed: "a shorter one" });
        }
        Ok(Self { bits, v4, length })
    }

    fn covers(&self, bits: u128) -> bool {
        let differing = self.bits ^ bits;
        u32::from(self.length) <= differing.leading_zeros()
    }
}

fn bits(address: IpAddr) -> (u128, bool) {
    match address.to_canonical() {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, true),
        IpAddr::V6(address) => (address.to_bits(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(prefixes: &[&str]) -> AllowList {
        let parse = |text: &&str| {
            let (address, length) = text.split_once('/').expect("a prefix");
            (address.parse().expect("an address"), length.parse().expect("a length"))
        };
        AllowList::new(&prefixes.iter().map(parse).collect::<Vec<_>>()).expect("valid lengths")
    }

    #[test]
    fn matches_prefix_bits_within_the_address_family() {
        for (prefixes, address, expected) in [
            (&[][..], "203.0.113.7", true),
            (&["198.18.0.0/15"], "198.19.255.255", true),
            (&["198.18.0.0/15"], "198.20.0.0", false),
            (&["198.18.0.0/15", "10.0.0.1/32"], "10.0.0.1", true),
            (&["10.0.0.1/32"], "10.0.0.2", false),
            (&["10.9.8.7/8"], "10.0.0.1", true),
            (&["0.0.0.0/0"], "1.2.3.4", true),
            (&["0.0.0.0/0"], "2001:db8::1", false),
            (&["::/0"], "1.2.3.4", false),
            (&["::/0"], "::1", true),
            (&["2001:db8::/33"], "2001:db8:7fff::1", true),
            (&["2001:db8::/33"], "2001:db8:8000::1", false),
            (&["10.0.0.0/8"], "::ffff:10.1.1.1", true),
        ] {
            assert_eq!(
                allowed(prefixes).has(address.parse().expect("valid")),
                expected,
                "{prefixes:?} {address}"
            );
        }
    }

    #[test]
    fn rejects_prefix_longer_than_address() {
        for (address, length) in [("10.0.0.0", 33), ("::", 129)] {
            assert!(AllowList::new(&[(address.parse().expect("valid"), length)]).is_err());
        }
    }
}

//! Who has failed to log in of late: guessing is slow, and costs the server little. Time is handed in.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
};

/// So many may fail from one place,
const FREE: u32 = 10;
/// within this long (ns); whoever has is not heard until it has passed.
const SPAN: u64 = 10_000_000_000;
/// Places that are remembered.
const PLACES: usize = 4096;

/// How often each place has failed, and since when.
#[derive(Debug, Default)]
pub(super) struct Failures(HashMap<IpAddr, (u32, u64)>);

impl Failures {
    pub(super) fn add(&mut self, peer: IpAddr, now: u64) {
        if self.0.len() >= PLACES {
            self.0.retain(|_, (_, since)| now.saturating_sub(*since) < SPAN);
        }
        if self.0.len() < PLACES || self.0.contains_key(&place(peer)) {
            let (count, since) = self.0.entry(place(peer)).or_insert((0, now));
            if now.saturating_sub(*since) >= SPAN {
                (*count, *since) = (0, now);
            }
            *count += 1;
        }
    }

    /// Whether a peer has failed too often of late to be heard.
    pub(super) fn are_many(&self, peer: IpAddr, now: u64) -> bool {
        self.0
            .get(&place(peer))
            .is_some_and(|(count, since)| *count >= FREE && now.saturating_sub(*since) < SPAN)
    }
}

/// Whoever has an IPv6 address has its 64 bits of hosts.
fn place(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_fails_often_is_not_heard_for_a_while_and_others_are() {
        let mut failures = Failures::default();
        let [guesser, beside, other] = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]
            .map(|address| address.parse::<IpAddr>().expect("an address"));
        for count in 0..FREE {
            assert!(!failures.are_many(guesser, 5), "{count}");
            failures.add(if count % 2 == 0 { guesser } else { beside }, 5);
        }
        assert!(failures.are_many(guesser, 6) && failures.are_many(beside, 6));
        assert!(!failures.are_many(other, 6));
        assert!(!failures.are_many(guesser, 5 + SPAN));
        failures.add(guesser, 5 + SPAN);
        assert!(!failures.are_many(guesser, 6 + SPAN));
    }

    #[test]
    fn crowds_take_no_more_memory_than_a_few() {
        let mut failures = Failures::default();
        for address in 0..100_000u32 {
            failures.add(std::net::Ipv4Addr::from_bits(address).into(), 5);
        }
        assert_eq!(failures.0.len(), PLACES);
        failures.add("198.18.0.1".parse().expect("an address"), 5 + SPAN);
        assert_eq!(failures.0.len(), 1);
    }
}

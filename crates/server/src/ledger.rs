//! The ledger: what the server has given to whom, by address and in all, and how much that may be.
//!
//! Every budget of the server is of one of two kinds: amounts that are held (places, connections, memory) and rates
//! (replies, bytes of log, failed logins). Whoever has an IPv6 address has its 64 bits of hosts, so its /64 is one
//! address here. Pure; time is handed in. It must not know what an amount stands for.

mod amounts;
mod rates;

use std::net::{IpAddr, Ipv6Addr};

pub(crate) use amounts::{Amounts, Exhausted, Share};
pub(crate) use rates::{Meter, Rate, Rates};

/// An address as budgets know it: of IPv4 all of it, of IPv6 the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Source(IpAddr);

impl From<IpAddr> for Source {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        })
    }
}

impl Source {
    /// Whether nobody elsewhere can send in its name: the kernel drops what comes in from a loopback address.
    pub(crate) fn is_proven(self) -> bool {
        self.0.is_loopback()
    }
}

/// How much there is for one address, and for all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) address: u64,
    pub(crate) server: u64,
}

/// What a server holds for its clients.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Clients that are served.
    pub(crate) places: Amounts,
    /// Clients of a protocol that proves no address, with a thread of their own.
    pub(crate) unproven: Amounts,
    /// Connections that have not yet said what they want.
    pub(crate) pending: Amounts,
    /// iperf3 clients that wait for a place or for their login to be checked.
    pub(crate) waiting: Amounts,
    /// Data connections of iperf3 tests, each with a thread.
    pub(crate) streams: Amounts,
    /// Bytes of the messages of iperf3 tests.
    pub(crate) buffers: Amounts,
    /// Intervals that iperf3 tests keep until their end.
    pub(crate) intervals: Amounts,
    /// Bytes of replies to addresses that have proved nothing, with what a packet costs beside its payload.
    pub(crate) replies: Rates,
    /// Logins that failed.
    pub(crate) failures: Rates,
}

/// Data connections of all tests together; one test has 256 at most.
const STREAMS: Budget = Budget { address: 512, server: 1024 };
const UNPROVEN: Budget = Budget { address: 4, server: 16 };
const PENDING: Budget = Budget { address: 512, server: 1024 };
const WAITING: Budget = Budget { address: 16, server: 64 };
const BUFFERS: Budget = Budget { address: 128 << 20, server: 512 << 20 };
/// A few hundred bytes each.
const INTERVALS: Budget = Budget { address: 200_000, server: 800_000 };
/// 64 MiB a second are half a million of the shortest messages. Tests reach a thousandth of it on any machine.
pub(crate) const REPLIES: Rate = if cfg!(test) {
    Rate { per_second: 64 << 10, burst: 64 << 10 }
} else {
    Rate { per_second: 64 << 20, burst: 16 << 20 }
};
const ALL_REPLIES: Rate = Rate { per_second: 256 << 20, burst: 64 << 20 };
/// What a failed login takes of its rate: guessing is slow, ten at first and one in ten seconds then.
pub(crate) const FAILURE: u64 = 10;
const FAILURES: Rate = Rate { per_second: 1, burst: 10 * FAILURE };
/// A bound for all would be a way to lock everybody out; how fast all can guess is what one thread can decrypt.
const ALL_FAILURES: Rate = Rate { per_second: 1 << 40, burst: 1 << 40 };

impl Ledger {
    pub(crate) fn new(places: Budget) -> Self {
        Self {
            places: Amounts::new(places),
            unproven: Amounts::new(UNPROVEN),
            pending: Amounts::new(PENDING),
            waiting: Amounts::new(WAITING),
            streams: Amounts::new(STREAMS),
            buffers: Amounts::new(BUFFERS),
            intervals: Amounts::new(INTERVALS),
            replies: Rates::new(REPLIES, ALL_REPLIES),
            failures: Rates::new(FAILURES, ALL_FAILURES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_is_one_address_and_ipv4_is_itself_however_it_is_written() {
        let source = |text: &str| Source::from(text.parse::<IpAddr>().expect("an address"));
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:1"));
        assert_ne!(source("2001:db8::1"), source("2001:db8:0:1::1"));
        assert_eq!(source("::ffff:198.18.0.1"), source("198.18.0.1"));
        assert_ne!(source("198.18.0.2"), source("198.18.0.1"));
    }
}

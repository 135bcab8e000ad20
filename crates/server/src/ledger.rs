//! The ledger: what the server has given to whom, by address and in all, and how much that may be.
//!
//! `budgets` counts; the limits are here.

use sys::socket::largest_send_buffer;

pub(crate) use budgets::{Amounts, Budget, Exhausted, Meter, Rate, Rates, Share, Source};

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
    /// Bytes of kernel send buffers of iperf3 tests over TCP.
    pub(crate) send_buffers: Amounts,
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

/// Send buffers that may grow to the kernel's limit; more streams share the same memory. Smaller in tests, which then need
/// fewer streams.
const FULL_SEND_BUFFERS: Budget =
    if cfg!(test) { Budget { address: 4, server: 16 } } else { Budget { address: 16, server: 64 } };

fn send_buffers() -> Budget {
    let largest = largest_send_buffer() as u64;
    let Budget { address, server } = FULL_SEND_BUFFERS;
    Budget { address: address * largest, server: server * largest }
}

impl Ledger {
    pub(crate) fn new(places: Budget) -> Self {
        Self {
            places: Amounts::new(places),
            unproven: Amounts::new(UNPROVEN),
            pending: Amounts::new(PENDING),
            waiting: Amounts::new(WAITING),
            streams: Amounts::new(STREAMS),
            buffers: Amounts::new(BUFFERS),
            send_buffers: Amounts::new(send_buffers()),
            intervals: Amounts::new(INTERVALS),
            replies: Rates::new(REPLIES, ALL_REPLIES),
            failures: Rates::new(FAILURES, ALL_FAILURES),
        }
    }
}

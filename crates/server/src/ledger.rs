//! Clients' reserved resources, with limits per address and in total.

use sys::socket::largest_send_buffer;

pub(crate) use budgets::{Amounts, Budget, Exhausted, Meter, Rate, Rates, Share, Source};

#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) places: Amounts,
    pub(crate) unproven: Amounts,
    pub(crate) pending: Amounts,
    pub(crate) waiting: Amounts,
    pub(crate) streams: Amounts,
    pub(crate) buffers: Amounts,
    pub(crate) send_buffers: Amounts,
    pub(crate) intervals: Amounts,
    pub(crate) replies: Rates,
    pub(crate) failures: Rates,
}

/// A single test may have 256 streams.
const STREAMS: Budget = Budget { address: 512, server: 1024 };
const UNPROVEN: Budget = Budget { address: 4, server: 16 };
const PENDING: Budget = Budget { address: 512, server: 1024 };
const WAITING: Budget = Budget { address: 16, server: 64 };
const BUFFERS: Budget = Budget { address: 128 << 20, server: 512 << 20 };
const INTERVALS: Budget = Budget { address: 200_000, server: 800_000 };
/// 64 MiB/s corresponds to half a million messages of minimum size per second. Unit tests use a thousandth of this,
/// so that any machine can reach the limit.
pub(crate) const REPLIES: Rate = if cfg!(test) {
    Rate { per_second: 64 << 10, burst: 64 << 10 }
} else {
    Rate { per_second: 64 << 20, burst: 16 << 20 }
};
const ALL_REPLIES: Rate = Rate { per_second: 256 << 20, burst: 64 << 20 };
/// Tokens per failed login. An address may fail ten times in a row, and then once every ten seconds.
pub(crate) const FAILURE: u64 = 10;
const FAILURES: Rate = Rate { per_second: 1, burst: 10 * FAILURE };
/// Effectively unlimited, because an attacker could exhaust a lower limit and lock everyone out. The single decryption
/// thread already limits the total rate.
const ALL_FAILURES: Rate = Rate { per_second: 1 << 40, burst: 1 << 40 };

/// The number of send buffers that may grow to the kernel's maximum. If there are more streams, they share this memory.
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

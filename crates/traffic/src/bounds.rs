//! How much one client may take of a server, looked at a few times a second. Time is handed in.

use std::collections::BTreeSet;

use codecs::sockperf::Counts;
use units::{BitRate, Bytes, Nanos};

use crate::{
    error::{Error, Result},
    socket::TICK,
    stop::Stop,
};

/// Whole messages that have to come within the time for which a client may be idle: one now and then keeps no place.
const LEAST: u64 = 3;
/// A rate is compared with at least this long a time.
const SECOND: u64 = 1_000_000_000;

/// What a server grants a client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// For how long fewer than three whole messages may come.
    pub idle: Nanos,
    /// How long it is served at all; `None` is without end.
    pub duration: Option<Nanos>,
    /// The bytes of its messages, all together.
    pub bytes: Option<Bytes>,
    /// The rate of its messages, over a second or more.
    pub rate: Option<BitRate>,
}

/// Why a client was no longer served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// It closed the connection.
    Left,
    /// It said nothing more; over UDP that is how a client ends.
    Silent,
    /// It took more than it was granted, of this.
    Limit(&'static str),
}

/// Looks whether a client is within its bounds.
#[derive(Debug)]
pub struct Guard<'a> {
    bounds: Bounds,
    stop: &'a Stop,
    begun: u64,
    wake: u64,
    heard: (u64, u64),
    second: (u64, u64),
    /// When its last message was seen, and how many there were.
    last: (u64, u64),
    cpus: BTreeSet<u32>,
}

impl<'a> Guard<'a> {
    pub const fn new(bounds: Bounds, stop: &'a Stop, now: u64) -> Self {
        let (heard, second, last) = ((now, 0), (now, 0), (now, 0));
        Self { bounds, stop, begun: now, wake: now, heard, second, last, cpus: BTreeSet::new() }
    }

    /// Whether the client has come to its end; it costs two comparisons most of the time.
    ///
    /// # Errors
    /// When the server is asked to stop.
    #[inline]
    pub fn look(&mut self, counts: Counts, now: u64) -> Result<Option<EndReason>> {
        if counts.received != self.last.1 {
            self.last = (now, counts.received);
        }
        if now < self.wake {
            return Ok(None);
        }
        self.wake = now + TICK.as_nanos() as u64;
        self.cpus.insert(sys::affinity::current_cpu());
        if self.stop.is_asked() {
            return Err(Error::Stopped);
        }
        Ok(self.judge(counts, now))
    }

    /// From its begin to its last message.
    pub const fn active(&self) -> Nanos {
        Nanos(self.last.0 - self.begun)
    }

    /// The CPUs that the thread was seen on.
    pub fn ran_on(&self) -> Vec<u32> {
        self.cpus.iter().copied().collect()
    }

    fn judge(&mut self, counts: Counts, now: u64) -> Option<EndReason> {
        let Bounds { idle, duration, bytes, rate } = self.bounds;
        if counts.received - self.heard.1 >= LEAST {
            self.heard = (now, counts.received);
        } else if now - self.heard.0 >= idle.0 {
            return Some(EndReason::Silent);
        }
        if bytes.is_some_and(|bytes| counts.bytes > bytes.0) {
            return Some(EndReason::Limit("bytes"));
        }
        if duration.is_some_and(|duration| now - self.begun >= duration.0) {
            return Some(EndReason::Limit("duration"));
        }
        let passed = now - self.second.0;
        if passed >= SECOND {
            let bits = (counts.bytes - self.second.1) as f64 * 8.0;
            self.second = (now, counts.bytes);
            if rate.is_some_and(|rate| bits * SECOND as f64 > rate.0 * passed as f64) {
                return Some(EndReason::Limit("rate"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Bounds = Bounds { idle: Nanos::from_secs(30), duration: None, bytes: None, rate: None };

    /// So many messages of 100 bytes a second, looked at ten times a second: when and how it ends.
    fn check(bounds: Bounds, per_second: u64, expected: Option<(u64, EndReason)>) {
        let stop = Stop::new();
        let mut guard = Guard::new(bounds, &stop, 1_000);
        let mut ended = None;
        for tenth in 1..=1000 {
            let received = per_second * tenth / 10;
            let counts = Counts { received, answered: 0, bytes: received * 100 };
            let found = guard.look(counts, 1_000 + tenth * SECOND / 10).expect("nobody asked to stop");
            if let (None, Some(found)) = (ended, found) {
                ended = Some((tenth, found));
            }
        }
        assert_eq!(ended, expected, "{bounds:?}");
    }

    #[test]
    fn each_bound_ends_a_client_that_passes_it_and_no_other() {
        check(FREE, 10, None);
        check(FREE, 0, Some((300, EndReason::Silent)));
        let impatient = Bounds { idle: Nanos::from_secs(2), ..FREE };
        check(impatient, 1, Some((20, EndReason::Silent)));
        check(impatient, 2, None);
        // 2,100 bytes in the first 2.1 s.
        check(Bounds { bytes: Some(Bytes(2_000)), ..FREE }, 10, Some((21, EndReason::Limit("bytes"))));
        let four_seconds = Some(Nanos::from_secs(4));
        check(Bounds { duration: four_seconds, ..FREE }, 10, Some((40, EndReason::Limit("duration"))));
        // 10 messages of 100 bytes a second are 8,000 bit/s.
        check(Bounds { rate: Some(BitRate(8_000.0)), ..FREE }, 10, None);
        check(Bounds { rate: Some(BitRate(7_999.0)), ..FREE }, 10, Some((10, EndReason::Limit("rate"))));
    }

    #[test]
    fn a_stop_is_obeyed_at_the_next_look() {
        let stop = Stop::new();
        let mut guard = Guard::new(FREE, &stop, 0);
        assert!(matches!(guard.look(Counts::default(), 0), Ok(None)));
        stop.ask();
        assert!(matches!(guard.look(Counts::default(), 49_999_999), Ok(None)), "not yet due");
        assert!(guard.look(Counts::default(), 50_000_000).expect_err("due").is_stopped());
    }
}

//! Limits a client's use of a server. Callers pass the current time.

use std::collections::BTreeSet;

use codecs::sockperf::Counts;
use units::{BitRate, Bytes, Nanos};

use crate::{
    error::{Error, Result},
    socket::TICK,
    stop::Stop,
};

/// A client must send at least this many messages per idle timeout, so that it cannot keep its slot with an occasional
/// one.
const LEAST: u64 = 3;
/// Rates are averages over at least this many nanoseconds.
const SECOND: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub idle: Nanos,
    pub duration: Option<Nanos>,
    pub bytes: Option<Bytes>,
    pub rate: Option<BitRate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    Left,
    Silent,
    Limit(&'static str),
}

#[derive(Debug)]
pub struct Guard<'a> {
    bounds: Bounds,
    stop: &'a Stop,
    begun: u64,
    wake: u64,
    last_received: (u64, u64),
    second: (u64, u64),
    last: (u64, u64),
    cpus: BTreeSet<u32>,
}

impl<'a> Guard<'a> {
    pub const fn new(bounds: Bounds, stop: &'a Stop, now: u64) -> Self {
        let (last_received, second, last) = ((now, 0), (now, 0), (now, 0));
        Self { bounds, stop, begun: now, wake: now, last_received, second, last, cpus: BTreeSet::new() }
    }

    /// Checks the limits, usually with only two comparisons. Fails if a stop was requested.
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

    pub const fn active(&self) -> Nanos {
        Nanos(self.last.0 - self.begun)
    }

    pub fn ran_on(&self) -> Vec<u32> {
        self.cpus.iter().copied().collect()
    }

    fn judge(&mut self, counts: Counts, now: u64) -> Option<EndReason> {
        let Bounds { idle, duration, bytes, rate } = self.bounds;
        if counts.received - self.last_received.1 >= LEAST {
            self.last_received = (now, counts.received);
        } else if now - self.last_received.0 >= idle.0 {
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

    fn check(bounds: Bounds, per_second: u64, expected: Option<(u64, EndReason)>) {
        let stop = Stop::new();
        let mut guard = Guard::new(bounds, &stop, 1_000);
        let mut ended = None;
        for tenth in 1..=1000 {
            let received = per_second * tenth / 10;
            let counts = Counts { received, answered: 0, bytes: received * 100 };
            let found = guard.look(counts, 1_000 + tenth * SECOND / 10).expect("not stopped");
            if let (None, Some(found)) = (ended, found) {
                ended = Some((tenth, found));
            }
        }
        assert_eq!(ended, expected, "{bounds:?}");
    }

    #[test]
    fn each_limit_ends_only_clients_that_exceed_it() {
        check(FREE, 10, None);
        check(FREE, 0, Some((300, EndReason::Silent)));
        let impatient = Bounds { idle: Nanos::from_secs(2), ..FREE };
        check(impatient, 1, Some((20, EndReason::Silent)));
        check(impatient, 2, None);
        check(Bounds { bytes: Some(Bytes(2_000)), ..FREE }, 10, Some((21, EndReason::Limit("bytes"))));
        let four_seconds = Some(Nanos::from_secs(4));
        check(Bounds { duration: four_seconds, ..FREE }, 10, Some((40, EndReason::Limit("duration"))));
        check(Bounds { rate: Some(BitRate(8_000.0)), ..FREE }, 10, None);
        check(Bounds { rate: Some(BitRate(7_999.0)), ..FREE }, 10, Some((10, EndReason::Limit("rate"))));
    }

    #[test]
    fn stops_at_the_next_check() {
        let stop = Stop::new();
        let mut guard = Guard::new(FREE, &stop, 0);
        assert!(matches!(guard.look(Counts::default(), 0), Ok(None)));
        stop.ask();
        assert!(matches!(guard.look(Counts::default(), 49_999_999), Ok(None)), "not due yet");
        assert!(guard.look(Counts::default(), 50_000_000).expect_err("due").is_stopped());
    }
}

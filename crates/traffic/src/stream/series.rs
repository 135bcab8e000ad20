//! The intervals of one end of a connection.
//!
//! Intervals follow a grid that restarts at the end of the warm-up. An interval ends at the first clock reading after
//! its grid point, so the interval's rate is exact. Loops read the clock even if there is no progress, so a stall is
//! visible immediately.

use units::{Bytes, Nanos};
use workload::{DatagramSample, Interval, StreamSettings, TcpSample, Until};

const UNKNOWN: u64 = 1024;
const MOST: u64 = 100_000;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    pub(super) tcp: Option<TcpSample>,
    pub(super) datagrams: Option<DatagramSample>,
}

pub(super) struct Series {
    intervals: Vec<Interval>,
    warmup: u64,
    interval: u64,
    origin: u64,
    start: u64,
    boundary: u64,
    bytes: u64,
    /// The end of the warm-up's last interval, cached because every message needs it.
    measured: Option<u64>,
}

impl Series {
    pub(super) fn new(settings: &StreamSettings) -> Self {
        let (warmup, interval) = (settings.warmup.0, settings.interval.0);
        let count = match settings.until {
            Until::Elapsed(time) => warmup.div_ceil(interval) + (time.0 / interval).saturating_mul(2) + 16,
            Until::Sent(_) => UNKNOWN,
        };
        let mut series = Self {
            intervals: Vec::with_capacity(count.min(MOST) as usize),
            warmup,
            interval,
            origin: 0,
            start: 0,
            boundary: 0,
            bytes: 0,
            measured: None,
        };
        series.boundary = series.next_boundary(0);
        series
    }

    pub(super) fn begin(&mut self, now: u64) {
        self.origin = now;
        self.measured = (self.warmup == 0).then_some(now);
    }

    #[inline]
    pub(super) const fn measured_from(&self) -> Option<u64> {
        self.measured
    }

    pub(super) fn boundary(&self) -> u64 {
        self.origin + self.boundary
    }

    pub(super) fn ended(&self) -> &[Interval] {
        &self.intervals
    }

    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    pub(super) fn cut(&mut self, now: u64, reading: Reading) {
        let end = now - self.origin;
        let Reading { tcp, datagrams } = reading;
        let (start, warmup) = (Nanos(self.start), self.start < self.warmup);
        self.intervals.push(Interval {
            start,
            end: Nanos(end),
            bytes: Bytes(self.bytes),
            warmup,
            tcp,
            datagrams,
        });
        if warmup && end >= self.warmup {
            self.measured = Some(now);
        }
        self.bytes = 0;
        self.start = end;
        self.boundary = self.next_boundary(end);
    }

    /// Delays the start of the measurement's first interval, which has just begun.
    pub(super) fn delay_measurement(&mut self, by: u64) {
        self.start += by;
        self.measured = self.measured.map(|from| from + by);
    }

    /// Adds the counts of intervals that ended after `now` to the last interval that started before it. Merges a
    /// remainder shorter than half an interval into the previous one.
    pub(super) fn finish(mut self, now: u64, reading: Reading) -> Vec<Interval> {
        let has_losses =
            reading.datagrams.is_some_and(|sample| sample.count > 0 || sample.lost != 0 || sample.strays > 0);
        if now > self.origin + self.start || self.bytes > 0 || has_losses {
            self.cut(now.max(self.origin + self.start), reading);
        }
        self.end_at(Nanos(now.saturating_sub(self.origin)));
        if self.intervals.last().is_some_and(|rest| rest.end - rest.start < Nanos(self.interval / 2)) {
            self.join_last();
        }
        self.intervals
    }

    fn end_at(&mut self, end: Nanos) {
        while self.intervals.last().is_some_and(|last| last.start >= end) && self.join_last() {}
        if let Some(last) = self.intervals.last_mut().filter(|last| last.end > end && last.start < end) {
            last.end = end;
        }
    }

    /// Returns `false` if there is no previous interval, or if the warm-up ended between the two intervals.
    fn join_last(&mut self) -> bool {
        let [.., before, rest] = self.intervals.as_mut_slice() else { return false };
        if before.warmup != rest.warmup {
            return false;
        }
        before.end = rest.end;
        before.bytes = before.bytes + rest.bytes;
        before.tcp = both(before.tcp, rest.tcp, joined);
        before.datagrams = both(before.datagrams, rest.datagrams, |before, rest| before.and(&rest));
        self.intervals.pop();
        true
    }

    fn next_boundary(&self, time: u64) -> u64 {
        let after = |from: u64| from + ((time - from) / self.interval + 1) * self.interval;
        if time < self.warmup { after(0).min(self.warmup) } else { after(self.warmup) }
    }
}

fn both<T>(before: Option<T>, rest: Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (before, rest) {
        (Some(before), Some(rest)) => Some(join(before, rest)),
        (before, rest) => rest.or(before),
    }
}

fn joined(before: TcpSample, after: TcpSample) -> TcpSample {
    TcpSample {
        retransmits: before.retransmits + after.retransmits,
        receive_window_limited: before.receive_window_limited + after.receive_window_limited,
        send_buffer_limited: before.send_buffer_limited + after.send_buffer_limited,
        reorderings: before.reorderings + after.reorderings,
        out_of_order: before.out_of_order + after.out_of_order,
        segments: before.segments.saturating_add(after.segments),
        ..after
    }
}

#[cfg(test)]
mod tests;

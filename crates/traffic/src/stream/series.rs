//! The intervals of one end of a connection, as they are cut. Time and samples are handed in.
//!
//! Intervals lie on a grid that begins anew at the end of the warm-up. One ends with the first look at the
//! clock at or after its boundary, and its true end is kept, so that its rate is exact. When nothing moves,
//! the loops look at the clock all the same (their waits are bounded), so a stall appears as it happens: as
//! empty intervals, or as one longer one where the grid is finer than those waits.

use load::{StreamLoad, Until};
use samples::{DatagramSample, Interval, TcpSample};
use units::{Bytes, Nanos};

/// Room for the intervals of a stream whose length is not known before.
const UNKNOWN: u64 = 1024;
/// No more room is taken beforehand than for this many.
const MOST: u64 = 100_000;

/// What was sampled at the end of an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    pub(super) tcp: Option<TcpSample>,
    pub(super) datagrams: Option<DatagramSample>,
}

/// The intervals until now.
pub(super) struct Series {
    intervals: Vec<Interval>,
    warmup: u64,
    interval: u64,
    origin: u64,
    start: u64,
    boundary: u64,
    bytes: u64,
}

impl Series {
    /// An empty one, all its memory taken at once where its length is known.
    pub(super) fn new(settings: &StreamLoad) -> Self {
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
        };
        series.boundary = series.next_boundary(0);
        series
    }

    /// The connection's time begins at `now`.
    pub(super) fn begin(&mut self, now: u64) {
        self.origin = now;
    }

    /// Since when what moves is measured, by the same clock: when the warm-up's last interval really ended.
    pub(super) fn measured_from(&self) -> Option<u64> {
        (self.start >= self.warmup).then(|| {
            let warm = self.intervals.iter().rev().find(|interval| interval.warmup);
            self.origin + warm.map_or(0, |interval| interval.end.0)
        })
    }

    /// When the open interval should end, by the same clock.
    pub(super) fn boundary(&self) -> u64 {
        self.origin + self.boundary
    }

    /// Those that have ended.
    pub(super) fn ended(&self) -> &[Interval] {
        &self.intervals
    }

    /// Counts bytes into the open interval.
    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Ends the open interval now.
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
        self.bytes = 0;
        self.start = end;
        self.boundary = self.next_boundary(end);
    }

    /// Ends the series. A rest shorter than half an interval says little alone and joins the one before.
    pub(super) fn finish(mut self, now: u64, reading: Reading) -> Vec<Interval> {
        let told = reading.datagrams.is_some_and(|sample| sample.count > 0 || sample.lost != 0);
        if now > self.origin + self.start || self.bytes > 0 || told {
            self.cut(now.max(self.origin + self.start), reading);
            self.join_short_rest();
        }
        self.intervals
    }

    fn join_short_rest(&mut self) {
        let [.., before, rest] = self.intervals.as_mut_slice() else { return };
        let short = rest.end - rest.start < Nanos(self.interval / 2);
        if !short || before.warmup != rest.warmup {
            return;
        }
        before.end = rest.end;
        before.bytes = before.bytes + rest.bytes;
        before.tcp = both(before.tcp, rest.tcp, joined);
        before.datagrams = both(before.datagrams, rest.datagrams, |before, rest| before.and(&rest));
        self.intervals.pop();
    }

    /// The first place of the grid after `time`; the end of the warm-up is always one.
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

/// Two samples in a row as one: counts add up, states are the later ones.
fn joined(before: TcpSample, after: TcpSample) -> TcpSample {
    TcpSample {
        retransmits: before.retransmits + after.retransmits,
        receive_window_limited: before.receive_window_limited + after.receive_window_limited,
        send_buffer_limited: before.send_buffer_limited + after.send_buffer_limited,
        reorderings: before.reorderings + after.reorderings,
        out_of_order: before.out_of_order + after.out_of_order,
        ..after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn settings(warmup: u64, interval: u64) -> StreamLoad {
        StreamLoad {
            warmup: Nanos::from_millis(warmup),
            interval: Nanos::from_millis(interval),
            ..StreamLoad::new(Until::Elapsed(Nanos::from_secs(1)))
        }
    }

    /// Looks at the clock at `times` (ms after the start), a byte and a loss each, and cuts where a boundary
    /// passed.
    fn series(warmup: u64, interval: u64, times: &[u64]) -> Vec<Interval> {
        let origin = 77 * MS;
        let mut series = Series::new(&settings(warmup, interval));
        series.begin(origin);
        let (mut last, mut lost) = (origin, 0);
        let reading = |lost: &mut u32| {
            let tcp = TcpSample { retransmits: std::mem::take(lost), ..TcpSample::default() };
            let datagrams = DatagramSample { count: u64::from(tcp.retransmits), ..DatagramSample::default() };
            Reading { tcp: Some(tcp), datagrams: Some(datagrams) }
        };
        for time in times {
            last = origin + time * MS;
            series.add(1);
            lost += 1;
            if last >= series.boundary() {
                series.cut(last, reading(&mut lost));
            }
        }
        series.finish(last, reading(&mut lost))
    }

    fn check(warmup: u64, interval: u64, times: &[u64], expected: &[(u64, u64, u64, bool)]) {
        let intervals = series(warmup, interval, times);
        let found: Vec<_> =
            intervals.iter().map(|i| (i.start.0 / MS, i.end.0 / MS, i.bytes.0, i.warmup)).collect();
        assert_eq!(found, expected, "{times:?}");
        for interval in intervals {
            assert_eq!(interval.tcp.map(|tcp| u64::from(tcp.retransmits)), Some(interval.bytes.0));
            assert_eq!(interval.datagrams.map(|datagrams| datagrams.count), Some(interval.bytes.0));
        }
    }

    #[test]
    fn an_interval_ends_with_the_first_look_after_its_boundary() {
        check(0, 100, &[50, 103, 199, 204], &[(0, 103, 2, false), (103, 204, 2, false)]);
    }

    #[test]
    fn the_warm_up_ends_at_a_boundary_and_the_grid_begins_anew_there() {
        check(
            250,
            100,
            &[100, 200, 251, 350, 450],
            &[
                (0, 100, 1, true),
                (100, 200, 1, true),
                (200, 251, 1, true),
                (251, 350, 1, false),
                (350, 450, 1, false),
            ],
        );
    }

    #[test]
    fn a_stall_without_looks_is_one_longer_interval() {
        check(0, 100, &[100, 730, 800], &[(0, 100, 1, false), (100, 730, 1, false), (730, 800, 1, false)]);
    }

    #[test]
    fn a_short_rest_joins_the_interval_before() {
        check(0, 100, &[100, 200, 249], &[(0, 100, 1, false), (100, 249, 2, false)]);
        check(0, 100, &[100, 200, 250], &[(0, 100, 1, false), (100, 200, 1, false), (200, 250, 1, false)]);
        check(100, 100, &[100, 110], &[(0, 100, 1, true), (100, 110, 1, false)]);
    }

    #[test]
    fn a_stream_of_known_length_never_takes_more_memory() {
        let times: Vec<u64> = (1..=1250).collect();
        let mut series = Series::new(&settings(250, 10));
        let room = series.intervals.capacity();
        for time in times {
            if time * MS >= series.boundary() {
                series.cut(time * MS, Reading::default());
            }
        }
        assert_eq!(series.intervals.capacity(), room);
    }
}

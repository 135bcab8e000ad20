//! The intervals of one end of a connection, as they are cut. Time and TCP_INFO are handed in.
//!
//! Intervals lie on a grid that begins anew at the end of the warm-up. One ends with the first look at the
//! clock at or after its boundary, and its true end is kept, so that its rate is exact. When nothing moves,
//! the loops look at the clock all the same (their waits are bounded), so a stall appears as it happens: as
//! empty intervals, or as one longer one where the grid is finer than those waits.

use load::{StreamLoad, Until};
use samples::{Interval, TcpSample};
use sys::socket::TcpInfo;
use units::{BitRate, Bytes, Nanos};

/// Room for the intervals of a stream whose length is not known before.
const UNKNOWN: u64 = 1024;
/// No more room is taken beforehand than for this many.
const MOST: u64 = 100_000;

/// The intervals until now.
pub(super) struct Series {
    intervals: Vec<Interval>,
    warmup: u64,
    interval: u64,
    origin: u64,
    start: u64,
    boundary: u64,
    bytes: u64,
    seen: Counters,
}

/// Counters of TCP_INFO that run since the connection was made.
#[derive(Clone, Copy, Default)]
struct Counters {
    retransmits: u32,
    receive_window: u64,
    send_buffer: u64,
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
            seen: Counters::default(),
        };
        series.boundary = series.next_boundary(0);
        series
    }

    /// The connection's time begins at `now`.
    pub(super) fn begin(&mut self, now: u64, info: Option<TcpInfo>) {
        self.origin = now;
        self.seen = info.as_ref().map(Counters::of).unwrap_or_default();
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

    /// Counts bytes into the open interval.
    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Ends the open interval now.
    pub(super) fn cut(&mut self, now: u64, info: Option<TcpInfo>) {
        let end = now - self.origin;
        let warmup = self.start < self.warmup;
        let interval = Interval {
            start: Nanos(self.start),
            end: Nanos(end),
            bytes: Bytes(self.bytes),
            warmup,
            tcp: info.map(|info| self.sample(&info)),
            datagrams: None,
        };
        self.intervals.push(interval);
        self.bytes = 0;
        self.start = end;
        self.boundary = self.next_boundary(end);
    }

    /// Ends the series. A rest shorter than half an interval says little alone and joins the one before.
    pub(super) fn finish(mut self, now: u64, info: Option<TcpInfo>) -> Vec<Interval> {
        if now > self.origin + self.start || self.bytes > 0 {
            self.cut(now, info);
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
        before.tcp = match (before.tcp, rest.tcp) {
            (Some(before), Some(rest)) => Some(joined(&before, &rest)),
            (before, rest) => rest.or(before),
        };
        self.intervals.pop();
    }

    /// The first place of the grid after `time`; the end of the warm-up is always one.
    fn next_boundary(&self, time: u64) -> u64 {
        let after = |from: u64| from + ((time - from) / self.interval + 1) * self.interval;
        if time < self.warmup { after(0).min(self.warmup) } else { after(self.warmup) }
    }

    fn sample(&mut self, info: &TcpInfo) -> TcpSample {
        let now = Counters::of(info);
        let before = std::mem::replace(&mut self.seen, now);
        let micros = |now: u64, before: u64| Nanos(now.saturating_sub(before) * 1000);
        TcpSample {
            retransmits: now.retransmits.wrapping_sub(before.retransmits),
            cwnd: Bytes(u64::from(info.snd_cwnd) * u64::from(info.snd_mss)),
            rtt: Nanos(u64::from(info.rtt_us) * 1000),
            rtt_variation: Nanos(u64::from(info.rttvar_us) * 1000),
            pacing: pacing(info),
            receive_window_limited: micros(now.receive_window, before.receive_window),
            send_buffer_limited: micros(now.send_buffer, before.send_buffer),
            ..TcpSample::default()
        }
    }
}

impl Counters {
    const fn of(info: &TcpInfo) -> Self {
        Self {
            retransmits: info.total_retrans,
            receive_window: info.rwnd_limited_us,
            send_buffer: info.sndbuf_limited_us,
        }
    }
}

/// Two samples in a row as one: counts add up, states are the later ones.
fn joined(before: &TcpSample, after: &TcpSample) -> TcpSample {
    TcpSample {
        retransmits: before.retransmits + after.retransmits,
        receive_window_limited: before.receive_window_limited + after.receive_window_limited,
        send_buffer_limited: before.send_buffer_limited + after.send_buffer_limited,
        ..*after
    }
}

/// The kernel's bytes a second; all ones mean no pacing.
fn pacing(info: &TcpInfo) -> Option<BitRate> {
    let paced = info.pacing_rate != u64::MAX && info.pacing_rate != 0;
    paced.then_some(BitRate(info.pacing_rate as f64 * 8.0))
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

    /// Looks at the clock at `times` (ms after the start), a byte each, and cuts where a boundary passed.
    fn series(warmup: u64, interval: u64, times: &[u64]) -> Vec<Interval> {
        let origin = 77 * MS;
        let mut series = Series::new(&settings(warmup, interval));
        series.begin(origin, None);
        let mut last = origin;
        for time in times {
            last = origin + time * MS;
            series.add(1);
            if last >= series.boundary() {
                series.cut(last, None);
            }
        }
        series.finish(last, None)
    }

    fn check(warmup: u64, interval: u64, times: &[u64], expected: &[(u64, u64, u64, bool)]) {
        let found: Vec<_> = series(warmup, interval, times)
            .iter()
            .map(|i| (i.start.0 / MS, i.end.0 / MS, i.bytes.0, i.warmup))
            .collect();
        assert_eq!(found, expected, "{times:?}");
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
    fn counters_are_differences_and_states_are_the_latest() {
        let info = |total_retrans, rwnd_limited_us, snd_cwnd| TcpInfo {
            total_retrans,
            rwnd_limited_us,
            snd_cwnd,
            snd_mss: 1000,
            rtt_us: 5,
            pacing_rate: u64::MAX,
            ..TcpInfo::default()
        };
        let mut series = Series::new(&settings(0, 100));
        series.begin(0, Some(info(3, 10, 10)));
        series.cut(100 * MS, Some(info(5, 30, 20)));
        series.cut(200 * MS, Some(info(5, 30, 30)));
        let intervals = series.finish(210 * MS, Some(info(9, 37, 40)));
        let samples: Vec<_> = intervals.iter().filter_map(|interval| interval.tcp).collect();
        let found: Vec<_> =
            samples.iter().map(|tcp| (tcp.retransmits, tcp.receive_window_limited.0, tcp.cwnd.0)).collect();
        assert_eq!(found, [(2, 20_000, 20_000), (4, 7_000, 40_000)]);
        assert!(samples.iter().all(|tcp| tcp.pacing.is_none() && tcp.rtt == Nanos(5000)));
    }

    #[test]
    fn a_stream_of_known_length_never_takes_more_memory() {
        let times: Vec<u64> = (1..=1250).collect();
        let mut series = Series::new(&settings(250, 10));
        let room = series.intervals.capacity();
        for time in times {
            if time * MS >= series.boundary() {
                series.cut(time * MS, None);
            }
        }
        assert_eq!(series.intervals.capacity(), room);
    }
}

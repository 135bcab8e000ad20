//! The schedule of a rate-limited sender.
//!
//! Message n (from 0) is due n periods after the start. If messages are due more often than once per [`GAP`], the
//! thread sends all messages of a gap together. In limit mode the gap is [`WIDE_GAP`], so that each call sends many
//! datagrams. A late sender catches up by at most [`DEBT`]. Beyond that, the schedule shifts and the shift is recorded,
//! so that no flood follows a stall of minutes.

use sys::clock::{monotonic, sleep_until};
use units::Nanos;
use workload::{LatencyHistogram, Mode, StreamSettings};

/// The minimum time between wake-ups, in nanoseconds.
const GAP: u64 = 50_000;
const WIDE_GAP: u64 = 250_000;
/// The maximum time by which a sender may catch up, in nanoseconds.
const DEBT: u64 = 1_000_000_000;

pub(super) struct Pace {
    begun: u64,
    /// In nanoseconds.
    period: f64,
    /// In nanoseconds.
    gap: u64,
    next: u64,
    woken: u64,
    warmup: u64,
    measured: u64,
    lateness: LatencyHistogram,
    /// Time skipped after the warm-up, in nanoseconds.
    skipped: u64,
}

impl Pace {
    pub(super) fn of(load: &StreamSettings) -> Option<Self> {
        let period = load.message.0 as f64 * 8e9 / load.rate?.0;
        let gap = match load.mode {
            Mode::App => GAP,
            Mode::Limit => WIDE_GAP,
        };
        let gap = if period < gap as f64 { gap } else { 0 };
        let (begun, next, woken, measured, warmup) = (0, 0, 0, 0, load.warmup.0);
        let lateness = LatencyHistogram::new();
        Some(Self { begun, period, gap, next, woken, warmup, measured, lateness, skipped: 0 })
    }

    pub(super) fn begin(&mut self, now: u64) {
        (self.begun, self.woken, self.measured) = (now, now, now + self.warmup);
    }

    #[inline]
    pub(super) fn due(&mut self, now: u64) -> u64 {
        let next = self.time_of(self.next);
        if now < next {
            return 0;
        }
        let behind = now - next;
        if behind > DEBT {
            self.skip(behind - DEBT, now);
        }
        let passed = ((now - self.begun) as f64 / self.period) as u64 + 1;
        passed.saturating_sub(self.next).max(1)
    }

    pub(super) fn wake(&self) -> u64 {
        self.time_of(self.next).max(self.woken + self.gap)
    }

    pub(super) fn awake(&mut self, now: u64) {
        self.woken = now;
    }

    #[inline]
    pub(super) fn leave(&mut self, count: u64, now: u64) {
        for number in self.next..self.next + count {
            if now >= self.measured {
                let late = now.saturating_sub(self.time_of(number));
                self.lateness.record(Nanos(late));
            }
        }
        self.next += count;
    }

    pub(super) fn into_lateness_and_shift(self) -> (LatencyHistogram, Nanos) {
        (self.lateness, Nanos(self.skipped))
    }

    #[cold]
    fn skip(&mut self, time: u64, now: u64) {
        self.begun += time;
        // A stall that began during the warm-up counts only from the end of the warm-up.
        self.skipped += time.min(now.saturating_sub(self.measured));
    }

    #[inline]
    fn time_of(&self, number: u64) -> u64 {
        self.begun + (number as f64 * self.period) as u64
    }
}

pub(super) struct Due {
    pub(super) messages: u64,
    pub(super) now: u64,
}

/// Waits until a message is due. `limit` is evaluated only if no message is due at `now`.
#[inline]
pub(super) fn await_due(pace: &mut Pace, limit: impl FnOnce() -> u64, now: u64) -> Due {
    let messages = pace.due(now);
    if messages > 0 {
        return Due { messages, now };
    }
    let wake = pace.wake();
    sleep_until(wake.min(limit()));
    let now = monotonic();
    if now >= wake {
        pace.awake(now);
    }
    Due { messages: pace.due(now), now }
}

#[cfg(test)]
mod tests {
    use units::{BitRate, Bytes};
    use workload::Until;

    use super::*;

    const BEGUN: u64 = 1_000_000_000_000;

    fn pace(period: u64) -> Pace {
        pace_in(Mode::App, period)
    }

    fn pace_in(mode: Mode, period: u64) -> Pace {
        let load = StreamSettings {
            mode,
            message: Bytes(1000),
            rate: Some(BitRate(8e12 / period as f64)),
            ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
        };
        let mut pace = Pace::of(&load).expect("a rate");
        pace.begin(BEGUN);
        pace
    }

    fn run(mut pace: Pace, late: u64, until: u64) -> (Pace, u64, u64) {
        let (mut now, mut sent, mut woken) = (BEGUN, 0, 0);
        while now < BEGUN + until {
            let due = pace.due(now);
            pace.leave(due, now);
            sent += due;
            now = pace.wake() + late;
            pace.awake(now);
            woken += 1;
        }
        (pace, sent, woken)
    }

    #[test]
    fn sends_slow_messages_singly_and_fast_ones_per_gap() {
        const MS: u64 = 1_000_000;
        for (mode, gap, period, expected_wakes) in [
            (Mode::App, GAP, MS, 100),
            (Mode::App, GAP, 100_000, 1000),
            (Mode::App, GAP, 10_000, 2000),
            (Mode::App, GAP, 1000, 2000),
            (Mode::Limit, WIDE_GAP, MS, 100),
            (Mode::Limit, WIDE_GAP, 10_000, 400),
        ] {
            let (pace, sent, woken) = run(pace_in(mode, period), 0, 100 * MS);
            assert!(sent.abs_diff(100 * MS / period) <= gap / period + 1, "{period}: {sent}");
            assert!(u64::abs_diff(woken, expected_wakes) <= 1, "{period}: {woken}");
            let latest = pace.into_lateness_and_shift().0.max().expect("some").0;
            assert!(latest <= if period < gap { gap + gap / 1000 } else { 1 }, "{period}: {latest}");
        }
    }

    #[test]
    fn lateness_does_not_accumulate() {
        let (pace, sent, _) = run(pace(100_000), 30_000, 1_000_000_000);
        assert!(sent.abs_diff(10_000) <= 1, "{sent}");
        let (lateness, skipped) = pace.into_lateness_and_shift();
        assert_eq!(skipped, Nanos(0));
        let (least, most) = (lateness.quantile(0.01).expect("some").0, lateness.max().expect("some").0);
        assert!((29_900..=30_100).contains(&least) && most <= 30_100, "{least} {most}");
    }

    #[test]
    fn backlog_after_a_stall_is_limited() {
        let mut pace = pace(1_000_000);
        pace.leave(1, BEGUN);
        assert_eq!(pace.due(BEGUN + 500_000_000), 500);
        let mut pace = self::pace(1_000_000);
        assert_eq!(pace.due(BEGUN + 60_000_000_000), 1001, "one second of messages, and the first");
        pace.leave(1001, BEGUN + 60_000_000_000);
        assert_eq!(pace.due(BEGUN + 60_000_500_000), 0);
        assert_eq!(pace.due(BEGUN + 60_001_000_000), 1);
        assert_eq!(pace.into_lateness_and_shift().1, Nanos::from_secs(59), "reports the shift");
    }

    #[test]
    fn shift_in_the_warmup_does_not_count() {
        for (warmup, skipped) in [(0, 4), (3, 2), (5, 0), (9, 0)] {
            let mut pace = pace(1_000_000);
            pace.warmup = warmup * 1_000_000_000;
            pace.begin(BEGUN);
            pace.due(BEGUN + 5_000_000_000);
            assert_eq!(pace.into_lateness_and_shift().1, Nanos::from_secs(skipped), "{warmup}");
        }
    }

    #[test]
    fn evaluates_sleep_limit_only_if_nothing_is_due() {
        let mut pace = pace(1_000_000);
        let due = await_due(&mut pace, || panic!("asked for"), BEGUN);
        assert_eq!((due.messages, due.now), (1, BEGUN));
    }
}

//! The schedule of a sender with a rate, and sleeping by it.
//!
//! Open loop: message number n (from 0) is due n times its period after the start, whatever became of those
//! before it. A thread sleeps until the next is due, by an absolute deadline. Where messages are due more often
//! than every [`GAP`] (in limit mode, [`WIDE_GAP`], so that many datagrams leave by one call), it wakes up once a
//! gap and sends those of a gap together: none before its time, and none later than a gap by plan. Whoever is
//! late catches up without sleeping, by as many messages as were due in [`DEBT`]; if the path or the CPU falls
//! back further, the schedule is moved, so that a stall of minutes does not become a flood of minutes. By how
//! much it was moved is kept: such a sender did not do what was asked.

use sys::clock::{monotonic, sleep_until};
use units::Nanos;
use workload::{LatencyHistogram, Mode, StreamSettings};

/// The least time between two wake-ups: ns,
const GAP: u64 = 50_000;
/// and where cheapness counts more than evenness.
const WIDE_GAP: u64 = 250_000;
/// How much of its schedule a sender may be behind.
const DEBT: u64 = 1_000_000_000;

/// The schedule of one connection.
pub(super) struct Pace {
    begun: u64,
    /// From one message to the next, in ns.
    period: f64,
    /// From one wake-up to the next, at least.
    gap: u64,
    /// The number of the next message.
    next: u64,
    woken: u64,
    warmup: u64,
    measured: u64,
    lateness: LatencyHistogram,
    /// By how much the schedule was moved after the warm-up, in ns.
    skipped: u64,
}

impl Pace {
    /// That of a load with a rate, all its memory taken at once.
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

    /// The first message is due now.
    pub(super) fn begin(&mut self, now: u64) {
        (self.begun, self.woken, self.measured) = (now, now, now + self.warmup);
    }

    /// How many messages are due.
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

    /// Until when to sleep when none is due.
    pub(super) fn wake(&self) -> u64 {
        self.time_of(self.next).max(self.woken + self.gap)
    }

    /// It woke up from its sleep.
    pub(super) fn awake(&mut self, now: u64) {
        self.woken = now;
    }

    /// The next `count` messages leave now.
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

    /// How late messages left after the warm-up, and how much of the schedule was given up in that time.
    pub(super) fn kept(self) -> (LatencyHistogram, Nanos) {
        (self.lateness, Nanos(self.skipped))
    }

    #[cold]
    fn skip(&mut self, time: u64, now: u64) {
        self.begun += time;
        // Of a stall that began in the warm-up only the part after it counts.
        self.skipped += time.min(now.saturating_sub(self.measured));
    }

    #[inline]
    fn time_of(&self, number: u64) -> u64 {
        self.begun + (number as f64 * self.period) as u64
    }
}

/// What is due, and when that was.
pub(super) struct Due {
    pub(super) messages: u64,
    pub(super) now: u64,
}

/// Sleeps, unless messages are due at `now`, until the next ones are, but no longer than to `limit`, which is
/// asked for only then.
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

    /// 1,000 bytes every `period` ns.
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

    /// Wakes up as late as told each time, sends all that is due at once, and counts messages and wake-ups.
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
    fn slow_messages_leave_one_by_one_and_fast_ones_by_the_gap() {
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
            let latest = pace.kept().0.max().expect("some").0;
            // The histogram has three digits.
            assert!(latest <= if period < gap { gap + gap / 1000 } else { 1 }, "{period}: {latest}");
        }
    }

    #[test]
    fn lateness_does_not_add_up() {
        let (pace, sent, _) = run(pace(100_000), 30_000, 1_000_000_000);
        assert!(sent.abs_diff(10_000) <= 1, "{sent}");
        let (lateness, skipped) = pace.kept();
        assert_eq!(skipped, Nanos(0));
        let (least, most) = (lateness.quantile(0.01).expect("some").0, lateness.max().expect("some").0);
        assert!((29_900..=30_100).contains(&least) && most <= 30_100, "{least} {most}");
    }

    #[test]
    fn after_a_stall_all_that_was_due_is_due_at_once_and_no_more_than_the_debt() {
        let mut pace = pace(1_000_000);
        pace.leave(1, BEGUN);
        assert_eq!(pace.due(BEGUN + 500_000_000), 500);
        let mut pace = self::pace(1_000_000);
        assert_eq!(pace.due(BEGUN + 60_000_000_000), 1001, "a second's worth, and the first");
        pace.leave(1001, BEGUN + 60_000_000_000);
        assert_eq!(pace.due(BEGUN + 60_000_500_000), 0);
        assert_eq!(pace.due(BEGUN + 60_001_000_000), 1);
        assert_eq!(pace.kept().1, Nanos::from_secs(59), "what was not made up for is told");
    }

    #[test]
    fn what_was_skipped_in_the_warm_up_is_no_matter() {
        for (warmup, skipped) in [(0, 4), (3, 2), (5, 0), (9, 0)] {
            let mut pace = pace(1_000_000);
            pace.warmup = warmup * 1_000_000_000;
            pace.begin(BEGUN);
            pace.due(BEGUN + 5_000_000_000);
            assert_eq!(pace.kept().1, Nanos::from_secs(skipped), "{warmup}");
        }
    }

    #[test]
    fn the_limit_of_a_sleep_is_worked_out_only_when_nothing_is_due() {
        let mut pace = pace(1_000_000);
        let due = await_due(&mut pace, || panic!("asked for"), BEGUN);
        assert_eq!((due.messages, due.now), (1, BEGUN));
    }
}

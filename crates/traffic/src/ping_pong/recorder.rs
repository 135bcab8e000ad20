//! What a thread notes of the messages that come back: a histogram of the present interval, and little else.
//!
//! Per message it counts; a few times a second it looks at the stop, and hands the interval to the thread that
//! watches. It does not know how messages are sent.

use std::mem;

use load::PingPongLoad;
use samples::{LatencyHistogram, PingPongInterval};
use units::Nanos;

use super::seen::Seen;
use crate::{crew::Shared, error::Result, socket::TICK};

/// The round trips of one thread.
pub(super) struct Recorder<'a> {
    shared: &'a Shared<'a>,
    begin: u64,
    warm: u64,
    end: u64,
    interval: u64,
    /// Until then nothing but counting is to be done.
    wake: u64,
    beat: u64,
    /// When the present interval began and when it ends.
    present: (u64, u64),
    warmup: bool,
    working: LatencyHistogram,
    lost: u64,
    first: Option<u64>,
    last: u64,
    answered: u64,
    told: u64,
    seen: Seen,
}

impl<'a> Recorder<'a> {
    /// Its time begins at `begin`.
    pub(super) fn new(load: &PingPongLoad, begin: u64, shared: &'a Shared<'a>) -> Self {
        let warm = begin + load.warmup.0;
        let mut recorder = Self {
            shared,
            begin,
            warm,
            end: warm + load.duration.0,
            interval: load.interval.0,
            wake: 0,
            beat: begin,
            present: (begin, begin),
            warmup: warm > begin,
            working: LatencyHistogram::new(),
            lost: 0,
            first: None,
            last: begin,
            answered: 0,
            told: 0,
            seen: Seen::default(),
        };
        recorder.present.1 = recorder.boundary_after(begin);
        recorder
    }

    /// A message of the time `from` came back at `now`.
    #[inline]
    pub(super) fn answered(&mut self, from: u64, now: u64) -> Result<()> {
        if now >= self.wake {
            self.awake(from, now)?;
        }
        self.working.record(Nanos(now.saturating_sub(from)));
        self.answered += 1;
        self.last = now;
        Ok(())
    }

    /// `count` messages, the latest of the time `from`, were given up at `now`.
    pub(super) fn lost(&mut self, count: u64, from: u64, now: u64) -> Result<()> {
        if now >= self.wake {
            self.awake(from, now)?;
        }
        self.lost += count;
        self.last = now;
        Ok(())
    }

    /// Whether the time is over.
    #[inline]
    pub(super) const fn is_over(&self, now: u64) -> bool {
        now >= self.end
    }

    /// Whether the warm-up's last interval has not been ended.
    #[inline]
    pub(super) const fn is_warming(&self) -> bool {
        self.warmup
    }

    /// When the warm-up is over.
    pub(super) const fn warm(&self) -> u64 {
        self.warm
    }

    /// When the time is over.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    /// Whether waiting may go on.
    pub(super) fn check(&self) -> Result<()> {
        self.shared.check()
    }

    #[cold]
    fn awake(&mut self, from: u64, now: u64) -> Result<()> {
        // The warm-up's last interval keeps all that was begun in it, however late it ends.
        while now >= self.present.1 && !(self.present.1 == self.warm && from < self.warm) {
            self.cut(now);
        }
        if !self.warmup {
            self.first = self.first.or(Some(from));
        }
        if now >= self.beat {
            self.beat = now + TICK.as_nanos() as u64;
            self.seen.look();
            self.shared.add_round_trips(self.answered - self.told);
            self.told = self.answered;
            self.shared.check()?;
        }
        self.wake = self.beat.min(self.present.1);
        Ok(())
    }

    /// Ends the present interval at the last boundary that has passed.
    fn cut(&mut self, now: u64) {
        let mut end = self.present.1;
        while self.boundary_after(end) <= now && end != self.warm {
            end = self.boundary_after(end);
        }
        self.tell(end);
        self.warmup = end < self.warm;
        self.present = (end, self.boundary_after(end));
    }

    fn boundary_after(&self, time: u64) -> u64 {
        if time < self.warm {
            let begun = (time - self.begin) / self.interval;
            return (self.begin + (begun + 1) * self.interval).min(self.warm);
        }
        let boundary = self.warm + ((time - self.warm) / self.interval + 1) * self.interval;
        if boundary < self.end { boundary } else { u64::MAX }
    }

    fn tell(&mut self, end: u64) {
        let start = self.present.0;
        self.shared.tell_ping_interval(PingPongInterval {
            start: Nanos(start - self.begin),
            end: Nanos(end.max(start) - self.begin),
            warmup: self.warmup,
            round_trips: mem::take(&mut self.working),
            lost: mem::take(&mut self.lost),
        });
    }

    /// Ends the last interval, and says for how long round trips were measured and on which CPUs.
    pub(super) fn finish(mut self) -> (Nanos, Seen) {
        if self.working.count() > 0 || self.lost > 0 {
            self.tell(self.last);
        }
        self.shared.add_round_trips(self.answered - self.told);
        (Nanos(self.first.map_or(0, |first| self.last.saturating_sub(first))), self.seen)
    }
}

//! Records replies on a measuring thread. The watching thread recycles the memory of completed intervals.

use std::mem;

use units::Nanos;
use workload::{PingPongInterval, PingPongSettings};

use super::cpu_set::CpuSet;
use crate::{error::Result, socket::TICK, workers::SharedState};

/// The number of histograms in circulation. More are allocated if the watching thread lags behind.
const STOCK: usize = 4;

pub(super) fn prepare(shared: &SharedState<'_>) {
    (0..STOCK).for_each(|_| shared.store(PingPongInterval::default()));
}

pub(super) struct Recorder<'a> {
    shared: &'a SharedState<'a>,
    begin: u64,
    warm: u64,
    end: u64,
    interval: u64,
    wake: u64,
    progress: u64,
    present: (u64, u64),
    warmup: bool,
    working: PingPongInterval,
    first: Option<u64>,
    returned: u64,
    given_up: u64,
    answered: u64,
    reported: u64,
    strays: u64,
    duplicates: u64,
    seen: CpuSet,
}

#[derive(Default)]
pub(super) struct ThreadNotes {
    pub(super) elapsed: Nanos,
    pub(super) strays: u64,
    pub(super) duplicates: u64,
    pub(super) seen: CpuSet,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(load: &PingPongSettings, begin: u64, shared: &'a SharedState<'a>) -> Self {
        let warm = begin + load.warmup.0;
        let mut recorder = Self {
            shared,
            begin,
            warm,
            end: warm + load.duration.0,
            interval: load.interval.0,
            wake: 0,
            progress: begin,
            present: (begin, begin),
            warmup: warm > begin,
            working: shared.spare_ping_interval().unwrap_or_default(),
            first: None,
            returned: begin,
            given_up: begin,
            answered: 0,
            reported: 0,
            strays: 0,
            duplicates: 0,
            seen: CpuSet::default(),
        };
        recorder.present.1 = recorder.boundary_after(begin);
        recorder
    }

    #[inline]
    pub(super) fn answered(&mut self, from: u64, now: u64) -> Result<()> {
        if now >= self.wake {
            self.awake(from, now)?;
        }
        self.working.round_trips.record(Nanos(now.saturating_sub(from)));
        self.answered += 1;
        self.returned = now;
        Ok(())
    }

    pub(super) fn lost(&mut self, count: u64, from: u64, now: u64) -> Result<()> {
        if now >= self.wake {
            self.awake(from, now)?;
        }
        self.working.lost += count;
        self.given_up = now;
        Ok(())
    }

    pub(super) const fn stray(&mut self) {
        self.strays += 1;
    }

    pub(super) const fn duplicate(&mut self) {
        self.duplicates += 1;
    }

    #[inline]
    pub(super) const fn odd(&self) -> u64 {
        self.strays + self.duplicates
    }

    #[inline]
    pub(super) const fn is_over(&self, now: u64) -> bool {
        now >= self.end
    }

    #[inline]
    pub(super) const fn is_warming(&self) -> bool {
        self.warmup
    }

    pub(super) const fn warm(&self) -> u64 {
        self.warm
    }

    pub(super) const fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn check(&self) -> Result<()> {
        self.shared.check()
    }

    #[cold]
    fn awake(&mut self, from: u64, now: u64) -> Result<()> {
        // The last interval of the warm-up includes every message that started in it, no matter when the message ended.
        while now >= self.present.1 && !(self.present.1 == self.warm && from < self.warm) {
            self.cut(now);
        }
        if !self.warmup && self.first.is_none() {
            let waited = sys::counted_window::begin(true);
            self.first = Some(from + waited);
            self.end += waited;
        }
        if now >= self.progress {
            self.progress = now + TICK.as_nanos() as u64;
            self.seen.sample();
            self.shared.add_round_trips(self.answered - self.reported);
            self.reported = self.answered;
            self.shared.check()?;
        }
        self.wake = self.progress.min(self.present.1);
        Ok(())
    }

    fn cut(&mut self, now: u64) {
        let mut end = self.present.1;
        while self.boundary_after(end) <= now && end != self.warm {
            end = self.boundary_after(end);
        }
        self.report(end);
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

    fn report(&mut self, end: u64) {
        self.date(end);
        let next = self.shared.spare_ping_interval().unwrap_or_default();
        self.shared.send_ping_interval(mem::replace(&mut self.working, next));
    }

    fn date(&mut self, end: u64) {
        let start = self.present.0;
        self.working.start = Nanos(start - self.begin);
        self.working.end = Nanos(end.max(start) - self.begin);
        self.working.warmup = self.warmup;
    }

    /// Returns the time of the last reply or timeout. Timeouts count only up to the requested time, because a message
    /// lost at the very end times out long after that.
    fn measured_end(&self) -> u64 {
        self.returned.max(self.given_up.min(self.end))
    }

    pub(super) fn finish(mut self) -> ThreadNotes {
        sys::counted_window::end();
        let end = self.measured_end();
        if self.working.round_trips.count() > 0 || self.working.lost > 0 {
            self.date(end);
            self.shared.send_ping_interval(self.working);
        }
        self.shared.add_round_trips(self.answered - self.reported);
        let elapsed = Nanos(self.first.map_or(0, |first| end.saturating_sub(first)));
        ThreadNotes { elapsed, strays: self.strays, duplicates: self.duplicates, seen: self.seen }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{
        Observer, Stop,
        workers::{self, Job},
    };

    const MS: u64 = 1_000_000;
    const BEGIN: u64 = 1_000_000 * MS;

    #[derive(Default)]
    struct Reported(RefCell<Vec<PingPongInterval>>);

    impl Observer for Reported {
        fn ping_interval(&self, interval: &PingPongInterval) {
            self.0.borrow_mut().push(interval.clone());
        }
    }

    fn record(
        load: &PingPongSettings,
        notes: impl FnOnce(&mut Recorder<'_>, &SharedState<'_>) -> Result<()> + Send,
    ) -> (Nanos, Vec<PingPongInterval>) {
        let (stop, reported) = (Stop::new(), Reported::default());
        let shared = &SharedState::new(&stop);
        let work = move || {
            prepare(shared);
            shared.wait_for_start()?;
            let mut recorder = Recorder::new(load, BEGIN, shared);
            notes(&mut recorder, shared)?;
            Ok(recorder.finish().elapsed)
        };
        let job = Job { name: "test".into(), thread: "test".into(), work: Box::new(work) };
        let elapsed = workers::run(vec![job], shared, &reported).expect("runs").remove(0);
        (elapsed, reported.0.into_inner())
    }

    /// Sends one message per millisecond for 3 s. Messages return after `round_trip` ms, or time out if `is_lost`
    /// selects them.
    fn check(round_trip: u64, is_lost: fn(u64) -> bool, expected: u64) {
        let load = PingPongSettings::new(Nanos::from_secs(3));
        let (elapsed, intervals) = record(&load, |recorder, _| {
            let returns =
                (0..3000).filter(|number| !is_lost(*number)).map(|from| (from + round_trip, from, 0));
            let swept = |number: u64| (number + 1000).next_multiple_of(50);
            let given_up = (0..3000).filter(|number| is_lost(*number)).map(|from| (swept(from), from, 1));
            let mut events: Vec<(u64, u64, u64)> = returns.chain(given_up).collect();
            events.sort_unstable();
            for (now, from, lost) in events {
                let (from, now) = (BEGIN + from * MS, BEGIN + now * MS);
                if lost > 0 { recorder.lost(lost, from, now)? } else { recorder.answered(from, now)? }
            }
            Ok(())
        });
        assert_eq!(elapsed, Nanos::from_millis(expected));
        let lost: u64 = intervals.iter().map(|interval| interval.lost).sum();
        let came: u64 = intervals.iter().map(|interval| interval.round_trips.count()).sum();
        assert_eq!(lost + came, 3000);
        let ends = intervals.last().expect("some").end;
        assert!(ends <= Nanos::from_millis(expected.max(3000)), "the last interval ends at {ends}");
    }

    #[test]
    fn timeouts_after_the_end_do_not_extend_the_time() {
        check(1, |number| number % 5 == 4, 3000);
        check(1, |_| false, 3000);
        check(1, |number| number >= 2000, 3000);
        check(300, |number| number % 5 == 4, 3298);
    }

    #[test]
    fn few_histograms_serve_any_number_of_intervals() {
        let load = PingPongSettings {
            interval: Nanos::from_millis(10),
            ..PingPongSettings::new(Nanos::from_secs(60))
        };
        let (_, intervals) = record(&load, |recorder, shared| {
            for number in 0..500 {
                let now = BEGIN + number * 10 * MS;
                recorder.answered(now, now + 1)?;
                (0..5000).take_while(|_| shared.stock() < STOCK - 1).for_each(|_| {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                });
            }
            assert_eq!(shared.stock(), STOCK - 1);
            Ok(())
        });
        assert_eq!(intervals.len(), 500);
        assert!(intervals.iter().all(|interval| interval.round_trips.count() == 1 && interval.lost == 0));
    }
}

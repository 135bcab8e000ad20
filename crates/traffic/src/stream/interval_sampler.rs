//! What a stream's loop does besides moving bytes: a few times a second, never per message.

use std::time::Duration;

use sys::{affinity::current_cpu, clock::monotonic};
use units::Nanos;
use workload::{EndSeries, SocketFacts};

use super::{
    GRACE,
    flow::Flow,
    series::{Reading, Series},
};
use crate::{
    error::{Error, Result},
    observer::FlowId,
    socket::TICK,
    workers::SharedState,
};

/// CPUs that are kept of those that a thread was seen on.
const CPUS: usize = 256;

/// What is sampled when an interval ends.
pub(super) trait Sampled {
    /// Forgets what was before now.
    fn begin(&mut self);
    /// What is new since the last time.
    fn sample(&mut self) -> Reading;
}

/// The time and the bytes of one connection.
pub(super) struct IntervalSampler<'a, S> {
    shared: &'a SharedState<'a>,
    name: &'a str,
    id: FlowId,
    pub(super) sampled: S,
    series: Series,
    /// Until then nothing but counting is to be done.
    wake: u64,
    progress: u64,
    begun: u64,
    total: u64,
    told: u64,
    /// When bytes last came or left.
    latest: u64,
    /// How many intervals the watching thread was told of.
    shown: usize,
    /// When bytes were last seen to have moved, and how many there were.
    moved: (u64, u64),
    ran_on: Vec<u32>,
    /// Its intervals are no shorter than a tick, and told at once.
    is_slow: bool,
}

impl<'a, S: Sampled> IntervalSampler<'a, S> {
    /// The time of the connection begins now.
    pub(super) fn begin(flow: &'a Flow<'_>, shared: &'a SharedState<'a>, sampled: S) -> Self {
        let mut sampler = Self {
            shared,
            name: &flow.name,
            id: flow.flow_id(),
            sampled,
            series: Series::new(flow.load),
            wake: 0,
            progress: 0,
            begun: 0,
            total: 0,
            told: 0,
            latest: 0,
            shown: 0,
            moved: (0, 0),
            ran_on: Vec::with_capacity(CPUS),
            is_slow: Duration::from(flow.load.interval) >= TICK,
        };
        sampler.begin_again(monotonic());
        sampler
    }

    /// Its time begins only now; nothing has moved before.
    pub(super) fn begin_again(&mut self, now: u64) {
        self.sampled.begin();
        self.series.begin(now);
        (self.begun, self.latest, self.moved) = (now, now, (now, 0));
        self.progress = now + TICK.as_nanos() as u64;
        self.wake = self.progress.min(self.series.boundary());
        self.look_where();
    }

    /// When the connection's time began.
    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }

    /// When it next has more to do than counting.
    pub(super) const fn wake(&self) -> u64 {
        self.wake
    }

    /// Whether what is measured has lasted for `time`: a thread that was kept waiting over the end of the
    /// warm-up begins to measure late, and must not be measured for less.
    pub(super) fn has_measured(&self, time: Nanos, now: u64) -> bool {
        self.measured_until(time).is_some_and(|until| now >= until)
    }

    /// When what is measured will have lasted for `time`; `None` in the warm-up.
    pub(super) fn measured_until(&self, time: Nanos) -> Option<u64> {
        self.series.measured_from().map(|from| from + time.0)
    }

    /// Payload until now.
    #[inline]
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Counts what one call has moved, and cuts the interval or tells the others when it is time.
    #[inline]
    pub(super) fn count(&mut self, bytes: usize, now: u64) -> Result<()> {
        self.add(bytes);
        if bytes > 0 {
            self.latest = now;
        }
        if now < self.wake {
            return Ok(());
        }
        self.awake(now)
    }

    /// When bytes last came or left, or when its time began.
    pub(super) const fn latest(&self) -> u64 {
        self.latest
    }

    /// Counts, and does nothing else.
    #[inline]
    pub(super) fn add(&mut self, bytes: usize) {
        self.series.add(bytes as u64);
        self.total += bytes as u64;
    }

    #[cold]
    fn awake(&mut self, now: u64) -> Result<()> {
        let ended = now >= self.series.boundary();
        if ended {
            let reading = self.sampled.sample();
            self.series.cut(now, reading);
        }
        if now >= self.progress || (ended && self.is_slow) {
            self.progress = now + TICK.as_nanos() as u64;
            self.look_where();
            self.tell();
            if self.total > self.moved.1 {
                self.moved = (now, self.total);
            }
            self.shared.check()?;
        }
        self.wake = self.progress.min(self.series.boundary());
        Ok(())
    }

    /// Whether something has moved lately.
    pub(super) fn is_moving(&self, now: u64) -> bool {
        now.saturating_sub(self.moved.0) < GRACE.0 || self.total > self.moved.1
    }

    /// Fails when nothing has moved for long; for streams without an end in time.
    pub(super) fn check_moving(&self, now: u64) -> Result<()> {
        if self.is_moving(now) {
            return Ok(());
        }
        Err(Error::Silent { object: self.name.into(), missing: "any byte to move".into(), waited: GRACE })
    }

    /// Ends the record, before the connection is closed.
    pub(super) fn finish(mut self, now: u64, facts: SocketFacts) -> EndSeries {
        self.look_where();
        self.tell();
        let reading = self.sampled.sample();
        let (intervals, ran_on) = (self.series.finish(now, reading), self.ran_on);
        EndSeries { intervals, socket: SocketFacts { ran_on, ..facts }, ..EndSeries::default() }
    }

    /// Tells the watching thread, which wakes up for it: at most once a tick, however fine the intervals are.
    fn tell(&mut self) {
        let news = self.total - self.told;
        if self.id.sends {
            self.shared.add_sent(news);
        } else {
            self.shared.add_received(news);
        }
        self.told = self.total;
        let ended = self.series.ended();
        ended[self.shown..].iter().for_each(|interval| self.shared.send_interval(self.id, *interval));
        self.shown = ended.len();
    }

    fn look_where(&mut self) {
        let cpu = current_cpu();
        if let Err(place) = self.ran_on.binary_search(&cpu)
            && self.ran_on.len() < CPUS
        {
            self.ran_on.insert(place, cpu);
        }
    }
}

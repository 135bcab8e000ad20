//! What a stream's loop does besides moving bytes: a few times a second, never per message.

use std::time::Duration;

use sys::affinity::current_cpu;
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
    /// Of a connection whose time has not begun.
    pub(super) fn new(flow: &'a Flow<'_>, shared: &'a SharedState<'a>, sampled: S) -> Self {
        Self {
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
        }
    }

    /// The time of all connections of this end begins now, unless it has begun with another one's.
    pub(super) fn begin(&mut self, now: u64) {
        let begun = self.shared.begin(now);
        self.sampled.begin();
        self.series.begin(begun);
        (self.begun, self.latest, self.moved) = (begun, begun, (now, 0));
        self.progress = now + TICK.as_nanos() as u64;
        self.wake = self.progress.min(self.series.boundary());
        self.look_where();
    }

    /// When the time of this end's connections began.
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
        let socket = SocketFacts { ran_on, ..facts };
        EndSeries { intervals, socket, has_common_start: true, ..EndSeries::default() }
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

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use units::{BitRate, Bytes};
    use workload::{Direction, StreamSettings, Until};

    use super::*;
    use crate::{
        stop::Stop,
        stream::{
            DatagramFormat,
            flow::{Finish, FlowSocket, SERVER, Start},
        },
    };

    const MS: u64 = 1_000_000;

    struct Nothing;

    impl Sampled for Nothing {
        fn begin(&mut self) {}
        fn sample(&mut self) -> Reading {
            Reading::default()
        }
    }

    fn flow(load: &StreamSettings, id: u32) -> Flow<'_> {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        Flow {
            id,
            direction: Direction::Forward,
            end: SERVER,
            name: format!("connection {id}"),
            socket: FlowSocket::Udp(socket, DatagramFormat::Counter64),
            load,
            cpu: None,
            share: None,
            start: Start::Now,
            finish: Finish::HalfClose,
        }
    }

    #[test]
    fn a_connection_whose_thread_runs_late_has_the_time_of_the_others() {
        let (stop, load) = (Stop::new(), StreamSettings::new(Until::Elapsed(Nanos::from_millis(300))));
        let (shared, flows) = (SharedState::new(&stop), [flow(&load, 0), flow(&load, 1)]);
        let series = [(&flows[0], 1000, 1300), (&flows[1], 1400, 1700)].map(|(flow, from, to)| {
            let mut sampler = IntervalSampler::new(flow, &shared, Nothing);
            sampler.begin(from * MS);
            assert_eq!(sampler.begun(), 1000 * MS);
            sampler.count(1050, to * MS).expect("counts");
            sampler.finish(to * MS, SocketFacts::default())
        });
        assert_eq!(EndSeries::time_together(series.iter()), Nanos::from_millis(700));
        let each = Bytes(1050);
        assert_eq!(
            EndSeries::rate_together(series.iter()),
            BitRate::of(each + each, Nanos::from_millis(700))
        );
    }
}

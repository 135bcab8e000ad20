//! The periodic work in a stream's loop, done a few times per second and never per message.

use std::time::Duration;

use sys::affinity::current_cpu;
use units::Nanos;
use workload::{EndSeries, SocketFacts};

use super::{
    GRACE,
    flow::Flow,
    pace::Pace,
    series::{Reading, Series},
};
use crate::{
    error::{Error, Result},
    observer::FlowId,
    socket::TICK,
    workers::SharedState,
};

const CPUS: usize = 256;

pub(super) trait Sampled {
    fn begin(&mut self);
    fn sample(&mut self) -> Reading;
}

pub(super) struct IntervalSampler<'a, S> {
    shared: &'a SharedState<'a>,
    name: &'a str,
    id: FlowId,
    pub(super) sampled: S,
    series: Series,
    wake: u64,
    progress: u64,
    begun: u64,
    total: u64,
    reported: u64,
    latest: u64,
    shown: usize,
    moved: (u64, u64),
    ran_on: Vec<u32>,
    is_slow: bool,
    is_paced: bool,
}

impl<'a, S: Sampled> IntervalSampler<'a, S> {
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
            reported: 0,
            latest: 0,
            shown: 0,
            moved: (0, 0),
            ran_on: Vec::with_capacity(CPUS),
            is_slow: Duration::from(flow.load.interval) >= TICK,
            is_paced: Pace::of(flow.load).is_some(),
        }
    }

    pub(super) fn begin(&mut self, now: u64) {
        sys::counted_window::run_until_blocked();
        let begun = self.shared.begin(now);
        self.sampled.begin();
        self.series.begin(begun);
        (self.begun, self.latest, self.moved) = (begun, begun, (now, 0));
        self.progress = now + TICK.as_nanos() as u64;
        self.wake = self.progress.min(self.series.boundary());
        self.sample_cpu();
        self.mark_window(false);
    }

    /// Marks the start of the measurement for an instruction counter, once per test.
    fn mark_window(&mut self, was_measuring: bool) {
        if self.is_first_sender() && !was_measuring && self.series.measured_from().is_some() {
            // A paced sender does not wait, because it would catch up afterwards by sending faster.
            self.series.delay_measurement(sys::counted_window::begin(!self.is_paced));
        }
    }

    fn is_first_sender(&self) -> bool {
        self.id.sends && self.id.id == 0
    }

    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }

    pub(super) const fn wake(&self) -> u64 {
        self.wake
    }

    /// A thread delayed at the end of the warm-up starts late, but measures for the full time.
    pub(super) fn has_measured(&self, time: Nanos, now: u64) -> bool {
        self.measured_until(time).is_some_and(|until| now >= until)
    }

    pub(super) fn measured_until(&self, time: Nanos) -> Option<u64> {
        self.series.measured_from().map(|from| from + time.0)
    }

    #[inline]
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

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

    pub(super) const fn latest(&self) -> u64 {
        self.latest
    }

    #[inline]
    pub(super) fn add(&mut self, bytes: usize) {
        self.series.add(bytes as u64);
        self.total += bytes as u64;
    }

    #[cold]
    fn awake(&mut self, now: u64) -> Result<()> {
        let (ended, was_measuring) = (now >= self.series.boundary(), self.series.measured_from().is_some());
        if ended {
            let reading = self.sampled.sample();
            self.series.cut(now, reading);
        }
        if now >= self.progress || (ended && self.is_slow) {
            self.progress = now + TICK.as_nanos() as u64;
            self.sample_cpu();
            self.report();
            if self.total > self.moved.1 {
                self.moved = (now, self.total);
            }
            self.shared.check()?;
        }
        self.mark_window(was_measuring);
        self.wake = self.progress.min(self.series.boundary());
        Ok(())
    }

    pub(super) fn is_moving(&self, now: u64) -> bool {
        now.saturating_sub(self.moved.0) < GRACE.0 || self.total > self.moved.1
    }

    pub(super) fn check_moving(&self, now: u64) -> Result<()> {
        if self.is_moving(now) {
            return Ok(());
        }
        Err(Error::Silent { object: self.name.into(), missing: "any progress".into(), waited: GRACE })
    }

    pub(super) fn finish(mut self, now: u64, facts: SocketFacts) -> EndSeries {
        if self.is_first_sender() {
            sys::counted_window::end();
        }
        self.sample_cpu();
        self.report();
        let reading = self.sampled.sample();
        let (intervals, ran_on) = (self.series.finish(now, reading), self.ran_on);
        let socket = SocketFacts { ran_on, ..facts };
        EndSeries { intervals, socket, has_common_start: true, ..EndSeries::default() }
    }

    fn report(&mut self) {
        let delta = self.total - self.reported;
        if self.id.sends {
            self.shared.add_sent(delta);
        } else {
            self.shared.add_received(delta);
        }
        self.reported = self.total;
        let ended = self.series.ended();
        ended[self.shown..].iter().for_each(|interval| self.shared.send_interval(self.id, *interval));
        self.shown = ended.len();
    }

    fn sample_cpu(&mut self) {
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
    fn late_thread_has_the_common_start_time() {
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

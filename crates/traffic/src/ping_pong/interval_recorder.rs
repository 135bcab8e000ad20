//! Collects the intervals of a ping-pong on the watching thread and forwards them.

use std::cell::RefCell;

use workload::{Interval, LatencyHistogram, PingPongInterval};

use crate::observer::{FlowId, Observer, Progress};

pub(super) struct IntervalRecorder<'a> {
    observer: &'a dyn Observer,
    recorded: RefCell<RecordedIntervals>,
}

#[derive(Default)]
pub(super) struct RecordedIntervals {
    pub(super) measured: LatencyHistogram,
    pub(super) lost: u64,
    pub(super) intervals: Vec<PingPongInterval>,
}

impl<'a> IntervalRecorder<'a> {
    pub(super) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, recorded: RefCell::default() }
    }

    pub(super) fn into_recorded(self) -> RecordedIntervals {
        self.recorded.into_inner()
    }
}

impl Observer for IntervalRecorder<'_> {
    fn started(&self) {
        self.observer.started();
    }

    fn progress(&self, progress: Progress) {
        self.observer.progress(progress);
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.observer.interval(flow, interval);
    }

    fn ping_interval(&self, interval: &PingPongInterval) {
        self.observer.ping_interval(interval);
        let mut recorded = self.recorded.borrow_mut();
        if !interval.warmup {
            recorded.measured.merge(&interval.round_trips);
            recorded.lost += interval.lost;
        }
        let round_trips = interval.round_trips.packed();
        recorded.intervals.push(PingPongInterval { round_trips, ..*interval });
    }

    fn ended(&self) {
        self.observer.ended();
    }
}

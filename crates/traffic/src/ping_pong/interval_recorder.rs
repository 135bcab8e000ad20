//! The intervals of a ping-pong as the watching thread hears of them: added up, packed, told on.

use std::cell::RefCell;

use workload::{Interval, LatencyHistogram, PingPongInterval};

use crate::observer::{FlowId, Observer, Progress};

/// Stands between the workers and whoever listens, and records every interval.
pub(super) struct IntervalRecorder<'a> {
    observer: &'a dyn Observer,
    recorded: RefCell<RecordedIntervals>,
}

/// All intervals of one ping-pong.
#[derive(Default)]
pub(super) struct RecordedIntervals {
    /// Every time that was counted after the warm-up.
    pub(super) measured: LatencyHistogram,
    /// What was given up after the warm-up.
    pub(super) lost: u64,
    /// In the order of time, packed.
    pub(super) intervals: Vec<PingPongInterval>,
}

impl<'a> IntervalRecorder<'a> {
    pub(super) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, recorded: RefCell::default() }
    }

    /// What was heard until the workers had ended.
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

//! The intervals of a ping-pong as the watching thread hears of them: added up, packed, told on.

use std::cell::RefCell;

use workload::{Interval, LatencyHistogram, PingPongInterval};

use crate::observer::{Beat, FlowId, Observer};

/// Stands between a workers and whoever listens, and keeps every interval.
pub(super) struct Keeper<'a> {
    observer: &'a dyn Observer,
    kept: RefCell<Kept>,
}

/// All intervals of one ping-pong.
#[derive(Default)]
pub(super) struct Kept {
    /// Every time that was counted after the warm-up.
    pub(super) measured: LatencyHistogram,
    /// What was given up after the warm-up.
    pub(super) lost: u64,
    /// In the order of time, packed.
    pub(super) intervals: Vec<PingPongInterval>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, kept: RefCell::default() }
    }

    /// What was heard until the workers had ended.
    pub(super) fn into_kept(self) -> Kept {
        self.kept.into_inner()
    }
}

impl Observer for Keeper<'_> {
    fn started(&self) {
        self.observer.started();
    }

    fn beat(&self, beat: Beat) {
        self.observer.beat(beat);
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.observer.interval(flow, interval);
    }

    fn ping_interval(&self, interval: &PingPongInterval) {
        self.observer.ping_interval(interval);
        let mut kept = self.kept.borrow_mut();
        if !interval.warmup {
            kept.measured.merge(&interval.round_trips);
            kept.lost += interval.lost;
        }
        let round_trips = interval.round_trips.packed();
        kept.intervals.push(PingPongInterval { round_trips, ..*interval });
    }

    fn ended(&self) {
        self.observer.ended();
    }
}

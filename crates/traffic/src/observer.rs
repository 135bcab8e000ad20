//! Events of a running trial.

use std::time::Duration;

use units::{Bytes, Nanos};
use workload::{Direction, Interval, PingPongInterval};

/// The interval of progress reports. While instructions are counted, only the last report is sent, because reports
/// would add to the counts.
#[must_use]
pub fn progress_interval() -> Duration {
    if sys::counted_window::is_counted() { Duration::from_secs(3600) } else { Duration::from_millis(100) }
}

/// Called on the thread that waits for the trial to end, never on a measuring thread.
pub trait Observer {
    fn started(&self) {}
    /// Called every [`progress_interval`], and again after the last thread has ended.
    fn progress(&self, _progress: Progress) {}
    /// Called at the end of each interval. A final remainder shorter than half an interval is merged into the last
    /// interval without another call.
    fn interval(&self, _flow: FlowId, _interval: &Interval) {}
    fn ping_interval(&self, _interval: &PingPongInterval) {}
    fn ended(&self) {}
}

impl Observer for () {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId {
    pub id: u32,
    pub direction: Direction,
    pub sends: bool,
}

/// The totals of all connections at this end since the previous event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    pub elapsed: Nanos,
    pub covers: Nanos,
    pub received: Bytes,
    pub sent: Bytes,
    pub round_trips: u64,
}

//! Events of a running trial.

use std::time::Duration;

use units::{Bytes, Nanos};
use workload::{Direction, Interval, PingPongInterval};

/// Interval of progress events.
pub const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Receives events of a running trial on the thread that waits for its end, never on a measuring thread.
pub trait Observer {
    /// All connections are established; data follows.
    fn started(&self) {}
    /// Called every [`PROGRESS_EVERY`], and after the last thread has ended.
    fn progress(&self, _progress: Progress) {}
    /// A stream connection completed an interval. A remainder below half an interval at the end is merged into the
    /// last interval without another event. If the end of the stream is noticed late, the last end moves back.
    fn interval(&self, _flow: FlowId, _interval: &Interval) {}
    fn ping_interval(&self, _interval: &PingPongInterval) {}
    /// The last traffic thread has ended.
    fn ended(&self) {}
}

/// Ignores all events.
impl Observer for () {}

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId {
    /// Index within its direction, from 0.
    pub id: u32,
    /// Never `both`.
    pub direction: Direction,
    /// Whether this end sends.
    pub sends: bool,
}

/// Progress since the previous event, over all connections of this end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Since the start.
    pub elapsed: Nanos,
    /// Since the previous event.
    pub covers: Nanos,
    /// Payload received in that time.
    pub received: Bytes,
    /// Payload sent in that time.
    pub sent: Bytes,
    /// Operations in that time: round trips, or connections.
    pub round_trips: u64,
}

//! What a trial tells while it runs. It does not know who listens.

use std::time::Duration;

use units::{Bytes, Nanos};
use workload::{Direction, Interval, PingPongInterval};

/// How often progress is told.
pub const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Hears of a trial under way, on the thread that awaits its end; never from a thread that measures.
pub trait Observer {
    /// All connections stand; the first byte follows.
    fn started(&self) {}
    /// Every [`PROGRESS_EVERY`], and once more when the last thread has ended.
    fn progress(&self, _progress: Progress) {}
    /// A connection of a stream has ended an interval. What is left at its end, if shorter than half of one,
    /// joins the last interval without being told; an end of the stream that is noticed late moves the last end back.
    fn interval(&self, _flow: FlowId, _interval: &Interval) {}
    /// A ping-pong has ended an interval.
    fn ping_interval(&self, _interval: &PingPongInterval) {}
    /// The last traffic thread has ended.
    fn ended(&self) {}
}

/// Nobody listens.
impl Observer for () {}

/// One end of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowId {
    /// Its number among those of its direction, from 0.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// Whether this end sends.
    pub sends: bool,
}

/// What passed since the last of it, all connections of this end together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Since the start.
    pub elapsed: Nanos,
    /// Since the last of it.
    pub covers: Nanos,
    /// Payload received in that time.
    pub received: Bytes,
    /// Payload sent in that time.
    pub sent: Bytes,
    /// Things done in that time: round trips made, connections used.
    pub round_trips: u64,
}

//! What a trial tells while it runs. It does not know who listens.

use units::{Bytes, Nanos};

/// Hears of a trial under way, on the thread that awaits its end; never from a thread that measures.
pub trait Observer {
    /// All connections stand; the first byte follows.
    fn started(&self) {}
    /// About ten times a second.
    fn beat(&self, _beat: Beat) {}
    /// The last traffic thread has ended.
    fn ended(&self) {}
}

/// Nobody listens.
impl Observer for () {}

/// What passed since the last beat, all connections of this end together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Beat {
    /// Since the start.
    pub elapsed: Nanos,
    /// Since the last beat.
    pub covers: Nanos,
    /// Payload received in that time.
    pub received: Bytes,
    /// Round trips made in that time.
    pub round_trips: u64,
}

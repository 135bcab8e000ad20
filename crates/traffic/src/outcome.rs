//! What one end of a load recorded, whatever the load and the dialect.

use samples::ThreadCpu;
use workload::{ConnectData, Direction, EndSeries, PingPongData};

/// What one end recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Every connection of a stream, a ping-pong's background too, forward ones first.
    pub flows: Vec<FlowOutcome>,
    /// Of a ping-pong; the server's has its socket's facts only.
    pub ping_pong: Option<PingPongData>,
    /// Of connections; the server's is empty.
    pub connect: Option<ConnectData>,
    /// The CPU time of the traffic threads, warm-up included.
    pub threads: Vec<ThreadCpu>,
}

/// One end of one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowOutcome {
    /// Its number among those of its direction.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// This end's record of it.
    pub series: EndSeries,
}

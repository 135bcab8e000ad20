//! What ping-pongs and connections say: distributions of times, and what was measured beside them.

use schemars::JsonSchema;
use serde::Serialize;
use workload::LatencyHistogram;

use crate::{
    cell::{CellSummary, WorkloadSummary},
    distribution::Distribution,
    estimate::Estimate,
};

/// The round trips of a cell, all trials' merged. Round trip, never half of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// From when each message was sent.
    pub round_trips: Distribution,
    /// Round trips per second; `None` where nobody tells for how long they were made.
    pub rate: Option<f64>,
    /// Messages that never came back; `None` where a log does not tell.
    pub lost: Option<u64>,
    /// What came and answers no message that was sent; `None` where nobody counted it.
    pub strays: Option<u64>,
    /// Answers to messages that had been answered, or given up, before; `None` where nobody counted them.
    pub duplicates: Option<u64>,
    /// Of an open loop: what its schedule shows beside.
    pub open_loop: Option<OpenLoopSummary>,
    /// Payload received per second by the stream beside it, in bits per second.
    pub under: Option<Estimate>,
    /// The round trips themselves.
    pub histogram: LatencyHistogram,
}

impl LatencySummary {
    /// That of a cell of ping-pongs; `None` of another kind.
    #[must_use]
    pub const fn of(cell: &CellSummary) -> Option<&Self> {
        if let WorkloadSummary::PingPong(latency) = &cell.measured { Some(latency) } else { None }
    }

    /// The times that it is judged by: of an open loop since the intended times.
    #[must_use]
    pub fn judged(&self) -> &Distribution {
        self.open_loop.as_ref().map_or(&self.round_trips, |open| &open.since_intended)
    }
}

/// The same messages, seen from when they should have been sent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OpenLoopSummary {
    /// From each message's intended time to its return: a stall of sender, path or peer is not hidden.
    pub since_intended: Distribution,
    /// From each message's intended time to the call that sent it: the generator's own lateness.
    pub lateness: Distribution,
}

/// The connections of a cell, all trials' merged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConnectSummary {
    /// From the call that connects to its return.
    pub connects: Distribution,
    /// From the call that connects to the end of the connection, request and response between.
    pub exchanges: Distribution,
    /// Connections that failed.
    pub failed: u64,
}

impl ConnectSummary {
    /// That of a cell of connections; `None` of another kind.
    #[must_use]
    pub const fn of(cell: &CellSummary) -> Option<&Self> {
        if let WorkloadSummary::Connect(connect) = &cell.measured { Some(connect) } else { None }
    }
}

//! Latency of round trips and connections.

use schemars::JsonSchema;
use serde::Serialize;
use workload::LatencyHistogram;

use crate::{distribution::Distribution, estimate::Estimate};

/// Round trips, merged over all trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// Times from the actual send of each message to its reply.
    pub round_trips: Distribution,
    /// Round trips per second. `None` if the duration is unknown.
    pub rate: Option<f64>,
    /// Lost messages. `None` if the log does not contain them.
    pub lost: Option<u64>,
    /// Replies to messages that were never sent. `None` if not counted.
    pub strays: Option<u64>,
    /// Replies to messages that were already answered or given up. `None` if not counted.
    pub duplicates: Option<u64>,
    /// Times relative to the schedule. `None` unless this is an open loop.
    pub open_loop: Option<OpenLoopSummary>,
    /// Payload rate received by the concurrent stream, in bits per second.
    pub under: Option<Estimate>,
    pub histogram: LatencyHistogram,
}

impl LatencySummary {
    /// Returns the times since the intended sends in an open loop, and otherwise the times since the actual sends.
    #[must_use]
    pub fn judged(&self) -> &Distribution {
        self.open_loop.as_ref().map_or(&self.round_trips, |open| &open.since_intended)
    }
}

/// Times of the same messages, relative to their intended send times.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OpenLoopSummary {
    /// Times from the intended send of each message to its reply. Includes stalls of the sender, path or peer.
    pub since_intended: Distribution,
    /// Times from the intended to the actual send of each message, i.e. the generator's lateness.
    pub lateness: Distribution,
}

/// Connections, merged over all trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConnectSummary {
    pub connects: Distribution,
    /// Times from connect to close, including the request and the response.
    pub exchanges: Distribution,
    /// Failed connections.
    pub failed: u64,
}

//! Latency of ping-pongs and connections.

use schemars::JsonSchema;
use serde::Serialize;
use workload::LatencyHistogram;

use crate::{distribution::Distribution, estimate::Estimate};

/// Full round trips, merged over all trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// Measured from the send time.
    pub round_trips: Distribution,
    /// Round trips per second; `None` if the duration is unknown.
    pub rate: Option<f64>,
    /// Lost messages; `None` if not logged.
    pub lost: Option<u64>,
    /// Replies to messages that were never sent; `None` if not counted.
    pub strays: Option<u64>,
    /// Replies to messages already answered or given up; `None` if not counted.
    pub duplicates: Option<u64>,
    /// For an open loop: times relative to the schedule.
    pub open_loop: Option<OpenLoopSummary>,
    /// Received payload of the concurrent stream, in bits per second.
    pub under: Option<Estimate>,
    pub histogram: LatencyHistogram,
}

impl LatencySummary {
    /// Measured from the intended send times in an open loop.
    #[must_use]
    pub fn judged(&self) -> &Distribution {
        self.open_loop.as_ref().map_or(&self.round_trips, |open| &open.since_intended)
    }
}

/// The same messages relative to their intended send times.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OpenLoopSummary {
    /// From the intended send time to the reply, so stalls of sender, path or peer are included.
    pub since_intended: Distribution,
    /// From the intended to the actual send time: the generator's lateness.
    pub lateness: Distribution,
}

/// Connections, merged over all trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConnectSummary {
    /// Time to connect.
    pub connects: Distribution,
    /// From connecting to closing the connection, including request and response.
    pub exchanges: Distribution,
    /// Failed connections.
    pub failed: u64,
}

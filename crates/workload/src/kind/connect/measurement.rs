//! Measurements of short-lived connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{histogram::LatencyHistogram, socket::SocketFacts};

/// Connections with one request and one response each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectData {
    /// Duration of `connect(2)`, after the warm-up.
    pub connects: LatencyHistogram,
    /// Time from `connect(2)` to the end of the connection, after the warm-up. The histogram's count is the number of
    /// connections.
    pub exchanges: LatencyHistogram,
    /// Failed connections after the warm-up.
    pub failed: u64,
    pub elapsed: Nanos,
    /// Samples of all clients together, in order, including the warm-up.
    pub intervals: Vec<ConnectInterval>,
    /// Options of the client's first socket, as set by the kernel.
    pub client: SocketFacts,
}

impl ConnectData {
    /// Connections per second after the warm-up, or `None` if there were none or no time passed.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let done = self.exchanges.count();
        (done > 0 && self.elapsed.0 > 0).then(|| done as f64 / self.elapsed.seconds())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one per trial and end: boxing would save nothing")]
pub enum ConnectEnd {
    Client(ConnectData),
    Server,
}

impl ConnectEnd {
    #[must_use]
    pub fn alone(self) -> ConnectData {
        match self {
            Self::Client(data) => data,
            Self::Server => ConnectData::default(),
        }
    }
}

/// Connections that ended in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectInterval {
    pub start: Nanos,
    pub end: Nanos,
    pub warmup: bool,
    pub done: u64,
    pub failed: u64,
}

//! What making and closing connections recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{histogram::LatencyHistogram, socket::SocketFacts};

/// Connections, each with one request and its answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectData {
    /// From the call that connects to its return, after the warm-up.
    pub connects: LatencyHistogram,
    /// From the call that connects to the end of the connection, after the warm-up; their count is that of
    /// the connections.
    pub exchanges: LatencyHistogram,
    /// Connections that failed after the warm-up.
    pub failed: u64,
    /// For how long they were made.
    pub elapsed: Nanos,
    /// All clients together in the order of time, the warm-up included.
    pub intervals: Vec<ConnectInterval>,
    /// What the kernel gave the client's first socket.
    pub client: SocketFacts,
}

impl ConnectData {
    /// Connections used and closed per second after the warm-up; `None` when none was, or no time passed.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let done = self.exchanges.count();
        (done > 0 && self.elapsed.0 > 0).then(|| done as f64 / self.elapsed.seconds())
    }
}

/// What one end recorded of connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial and end: a box would save nothing that counts")]
pub enum ConnectEnd {
    Client(ConnectData),
    /// The server, which records nothing of them.
    Server,
}

impl ConnectEnd {
    /// What is known of them: the client's record.
    #[must_use]
    pub fn alone(self) -> ConnectData {
        match self {
            Self::Client(data) => data,
            Self::Server => ConnectData::default(),
        }
    }
}

/// The connections that ended in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectInterval {
    /// From this time, since the first connection.
    pub start: Nanos,
    /// To this time.
    pub end: Nanos,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// Connections that were used and closed.
    pub done: u64,
    /// Connections that failed.
    pub failed: u64,
}

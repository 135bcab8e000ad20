//! What an endpoint is asked to send: the settings that travel in orders and stay with the results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// Which way payload flows; the client is the end that connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From client to server.
    Forward,
    /// From server to client.
    Reverse,
    /// Both at once, over connections of their own.
    Both,
}

impl Direction {
    /// The single directions that flow: one, or both.
    #[must_use]
    pub fn flows(self) -> &'static [Self] {
        match self {
            Self::Forward => &[Self::Forward],
            Self::Reverse => &[Self::Reverse],
            Self::Both => &[Self::Forward, Self::Reverse],
        }
    }
}

/// When a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// After this long, the warm-up not counted (nanoseconds).
    Elapsed(Nanos),
    /// After this many bytes over all connections of a direction.
    Sent(Bytes),
}

/// The transport of a ping-pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// One connection.
    Tcp,
    /// Datagrams.
    Udp,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadSettings {
    /// TCP bulk transfer.
    Stream(StreamSettings),
    /// One message there and back at a time, closed loop.
    PingPong(PingPongSettings),
}

/// A TCP bulk transfer with ordinary writes and copying reads (mode `app`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamSettings {
    /// Parallel connections in each direction that flows.
    pub streams: u32,
    /// Which way.
    pub direction: Direction,
    /// When it ends.
    pub until: Until,
    /// Left out of the summary at the start.
    pub warmup: Nanos,
    /// The size of each write and read.
    pub message: Bytes,
    /// The congestion control to set; `None` leaves the kernel's default.
    pub congestion: Option<String>,
    /// How often a sample is taken.
    pub interval: Nanos,
}

/// A closed-loop ping-pong, blocking sends and receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongSettings {
    /// TCP or UDP.
    pub transport: Transport,
    /// The size of the message, the same both ways.
    pub message: Bytes,
    /// How long it is measured, the warm-up not counted.
    pub duration: Nanos,
    /// Left out of the histogram at the start.
    pub warmup: Nanos,
    /// The congestion control for TCP.
    pub congestion: Option<String>,
}

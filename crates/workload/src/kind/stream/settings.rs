//! Settings of a bulk transfer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{SocketSettings, Transport};

/// How data is sent and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Like an ordinary application: reads and writes of the message size, with copying, and one datagram per call.
    App,
    /// At the lowest cost, with zero-copy at the sender, no copy at the receiver (MSG_TRUNC), and many datagrams per
    /// call (segmentation and receive offload). Shows what the path can carry, not what an application gets.
    Limit,
}

/// The direction of payload. The client is the end that connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From client to server.
    Forward,
    /// From server to client.
    Reverse,
    /// Both at the same time, over separate connections.
    Both,
}

impl Direction {
    #[must_use]
    pub fn flows(self) -> &'static [Self] {
        match self {
            Self::Forward => &[Self::Forward],
            Self::Reverse => &[Self::Reverse],
            Self::Both => &[Self::Forward, Self::Reverse],
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// After this time, without the warm-up (nanoseconds).
    Elapsed(Nanos),
    /// After this many bytes in total over all connections of a direction. There is no warm-up.
    Sent(Bytes),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamSettings {
    pub transport: Transport,
    pub mode: Mode,
    /// Parallel connections per direction, each with its own thread.
    pub streams: u32,
    pub direction: Direction,
    pub until: Until,
    pub warmup: Nanos,
    /// Size of each write and read, or of a UDP datagram's payload.
    pub message: Bytes,
    /// Payload rate limit per connection; `None` is unlimited. The schedule does not depend on the peer.
    pub rate: Option<BitRate>,
    pub socket: SocketSettings,
    /// Sampling interval at both ends.
    pub interval: Nanos,
}

impl StreamSettings {
    /// Defaults to one forward TCP connection in app mode, with writes of 128 KiB and no warm-up.
    #[must_use]
    pub const fn new(until: Until) -> Self {
        Self {
            transport: Transport::Tcp,
            mode: Mode::App,
            streams: 1,
            direction: Direction::Forward,
            until,
            warmup: Nanos(0),
            message: Bytes(128 << 10),
            rate: None,
            socket: SocketSettings::kernel(),
            interval: Nanos::from_millis(100),
        }
    }
}

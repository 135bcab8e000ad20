//! Settings of a ping-pong test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{Direction, Mode, SocketSettings, Transport};

/// When the next message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// When the previous message has returned. A stall delays all following messages and counts only once.
    Closed,
    /// On a schedule, whether or not earlier messages have returned. A stall affects all messages that fall due during
    /// it.
    Open { period: Nanos },
}

/// How both ends wait for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// Sleeping in the kernel.
    Block,
    /// Polling without sleeping. Occupies one CPU at each end.
    Spin,
}

/// A TCP background stream on the same path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Background {
    pub mode: Mode,
    /// Parallel connections per direction.
    pub streams: u32,
    pub direction: Direction,
    /// Rate limit per connection; `None` is unlimited.
    pub rate: Option<BitRate>,
    /// Size of each write and read.
    pub message: Bytes,
}

/// A ping-pong test. Times are full round trips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongSettings {
    pub transport: Transport,
    /// Message size, equal in both directions.
    pub message: Bytes,
    pub schedule: Schedule,
    pub waiting: Waiting,
    pub under: Option<Background>,
    /// Measured time, without the warm-up.
    pub duration: Nanos,
    pub warmup: Nanos,
    pub socket: SocketSettings,
    /// Time covered by each histogram of the series.
    pub interval: Nanos,
}

impl PingPongSettings {
    /// The maximum message size. It fits into an IPv4 packet with headers.
    pub const LARGEST: Bytes = Bytes(60_000);

    /// Defaults to 64 bytes over UDP, a closed loop, blocking waits and no warm-up.
    #[must_use]
    pub const fn new(duration: Nanos) -> Self {
        Self {
            transport: Transport::Udp,
            message: Bytes(64),
            schedule: Schedule::Closed,
            waiting: Waiting::Block,
            under: None,
            duration,
            warmup: Nanos(0),
            socket: SocketSettings::kernel(),
            interval: Nanos::from_millis(500),
        }
    }
}

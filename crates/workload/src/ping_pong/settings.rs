//! Messages there and back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{Direction, Mode, SocketSettings, Transport};

/// When the next message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// When the last one has come back: a stall delays whatever would have followed, and is counted once.
    Closed,
    /// Each at its time, this long after the one before, whether or not that has come back: a stall is
    /// counted as often as it is met.
    Open {
        /// From one message to the next.
        period: Nanos,
    },
}

/// How both ends await a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// Asleep in the kernel.
    Block,
    /// Asking again and again without sleeping; it takes a CPU at either end.
    Spin,
}

/// A TCP stream beside the messages, on the same path for the same time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Background {
    /// How its bytes are moved.
    pub mode: Mode,
    /// Parallel connections in each direction.
    pub streams: u32,
    /// Which way.
    pub direction: Direction,
    /// Each connection's rate; `None` is as fast as it goes.
    pub rate: Option<BitRate>,
    /// The size of each write and read.
    pub message: Bytes,
}

/// A ping-pong. Every time is a whole round trip, never half of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongSettings {
    /// TCP or UDP.
    pub transport: Transport,
    /// The size of the message, the same both ways.
    pub message: Bytes,
    /// When the next one is sent.
    pub schedule: Schedule,
    /// How both ends await it.
    pub waiting: Waiting,
    /// What else is on the path meanwhile.
    pub under: Option<Background>,
    /// How long it is measured, the warm-up not counted.
    pub duration: Nanos,
    /// Left out of the histogram at the start.
    pub warmup: Nanos,
    /// What is set on every socket.
    pub socket: SocketSettings,
    /// How often a histogram of its own is begun.
    pub interval: Nanos,
}

impl PingPongSettings {
    /// The largest message: with its headers it still is one IPv4 packet.
    pub const LARGEST: Bytes = Bytes(60_000);

    /// 64 bytes over UDP, closed loop, blocking, nothing beside it, no warm-up, a histogram every 500 ms.
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

//! A bulk transfer over TCP or UDP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{SocketSettings, Transport};

/// How bytes get into and out of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// As an ordinary application does: writes and copying reads of the message's size; one datagram a call.
    App,
    /// As cheaply as the kernel can: no copy at the sender, none at the receiver (MSG_TRUNC), many datagrams
    /// a call (segmentation and receive offload). What the path could carry, not what an application gets.
    Limit,
}

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
    /// After this many bytes in all, over all connections of a direction; there is no warm-up then.
    Sent(Bytes),
}

/// A bulk transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamSettings {
    /// TCP or UDP.
    pub transport: Transport,
    /// How bytes get into and out of the kernel.
    pub mode: Mode,
    /// Parallel connections in each direction that flows, a thread each.
    pub streams: u32,
    /// Which way.
    pub direction: Direction,
    /// When it ends.
    pub until: Until,
    /// Left out of the summary at the start.
    pub warmup: Nanos,
    /// The size of each write and read; of UDP, a datagram's payload.
    pub message: Bytes,
    /// Each connection's rate of payload, on a schedule that does not wait for the peer; `None` is as fast as
    /// it goes.
    pub rate: Option<BitRate>,
    /// What is set on every socket.
    pub socket: SocketSettings,
    /// How often both ends take a sample.
    pub interval: Nanos,
}

impl StreamSettings {
    /// One TCP connection forward as an ordinary application sends it: 128 KiB a write, no warm-up, a sample
    /// every 100 ms, everything else as the kernel has it.
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

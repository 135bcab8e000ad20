//! What is sent: the settings of streams, ping-pongs and connections, with every default filled in.
//!
//! One document's worth of plain values: a scenario asks for them, orders carry them, records keep them.
//! Nothing here says who sends, over which path, or what came of it.

mod connect;
mod ping_pong;
mod placement;
mod socket;
mod stream;

pub use connect::ConnectLoad;
pub use ping_pong::{Background, PingPongLoad, Schedule, Waiting};
pub use placement::Placement;
pub use socket::SocketSettings;
pub use stream::{Direction, Mode, StreamLoad, Until};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Load {
    /// As many bytes as the path, or a rate, allows: throughput.
    Stream(StreamLoad),
    /// Messages there and back: round-trip latency.
    PingPong(PingPongLoad),
    /// Connections made, used once and closed: their rate.
    Connect(ConnectLoad),
}

impl Load {
    /// How long its traffic flows, the warm-up included; `None` where it ends after a number of bytes.
    #[must_use]
    pub fn duration(&self) -> Option<Nanos> {
        match self {
            Self::Stream(stream) => match stream.until {
                Until::Elapsed(time) => Some(stream.warmup + time),
                Until::Sent(_) => None,
            },
            Self::PingPong(ping) => Some(ping.warmup + ping.duration),
            Self::Connect(connect) => Some(connect.warmup + connect.duration),
        }
    }

    /// What is set on its sockets.
    #[must_use]
    pub const fn socket(&self) -> &SocketSettings {
        match self {
            Self::Stream(stream) => &stream.socket,
            Self::PingPong(ping) => &ping.socket,
            Self::Connect(connect) => &connect.socket,
        }
    }

    /// Whether it goes over TCP.
    #[must_use]
    pub fn is_tcp(&self) -> bool {
        match self {
            Self::Stream(stream) => stream.transport == Transport::Tcp,
            Self::PingPong(ping) => ping.transport == Transport::Tcp,
            Self::Connect(_) => true,
        }
    }
}

/// The transport of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

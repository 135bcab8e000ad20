//! The kinds: one enum for what is asked of a workload, one for what was measured. Must not know what is particular to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    connect::{ConnectData, ConnectSettings},
    ping_pong::{PingPongData, PingPongSettings},
    reported::ReportedData,
    socket::SocketSettings,
    stream::{StreamData, StreamSettings, Until},
};

/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSettings {
    /// As many bytes as the path, or a rate, allows: throughput.
    Stream(StreamSettings),
    /// Messages there and back: round-trip latency.
    PingPong(PingPongSettings),
    /// Connections made, used once and closed: their rate.
    Connect(ConnectSettings),
}

impl WorkloadSettings {
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

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial: a box would save nothing that counts")]
pub enum Measurement {
    /// Of a stream: every connection, at both ends.
    Stream(StreamData),
    /// Of a ping-pong: the round trips.
    PingPong(PingPongData),
    /// Of connections: their rate and times.
    Connect(ConnectData),
    /// Of another tool: what it reported, without samples.
    Reported(ReportedData),
}

//! The kinds: one enum for what is asked of a workload, one for what was measured. Must not know what is particular to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    connect::{ConnectData, ConnectEnd, ConnectSettings},
    ping_pong::{PingPongData, PingPongEnd, PingPongSettings},
    reported::ReportedData,
    socket::SocketSettings,
    stream::{FlowEnd, StreamData, StreamEnd, StreamSettings, Until},
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

/// What one end measured of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial and end: a box would save nothing that counts")]
pub enum EndMeasurement {
    /// Of a stream: its end of every connection.
    Stream(StreamEnd),
    /// Of a ping-pong: the round trips, or the facts of the socket that returned them.
    PingPong(PingPongEnd),
    /// Of connections: their rate and times; nothing at the server.
    Connect(ConnectEnd),
}

impl EndMeasurement {
    /// What both ends' records make together.
    ///
    /// # Errors
    /// When they do not describe the same traffic.
    pub fn together(self, server: Self) -> Result<Measurement, String> {
        match self {
            Self::Stream(client) => match server {
                Self::Stream(server) => StreamData::of_ends(&client, &server).map(Measurement::Stream),
                other => Err(other.beside("stream")),
            },
            Self::PingPong(client) => match server {
                Self::PingPong(server) => client.together(server).map(Measurement::PingPong),
                other => Err(other.beside("ping-pong")),
            },
            Self::Connect(client) => match server {
                Self::Connect(_) => Ok(Measurement::Connect(client.alone())),
                other => Err(other.beside("connect")),
            },
        }
    }

    /// What is known where the other end tells nothing, or there is none.
    #[must_use]
    pub fn alone(self) -> Measurement {
        match self {
            Self::Stream(client) => {
                Measurement::Stream(StreamData::as_far_as_told(&client, &StreamEnd::default()))
            }
            Self::PingPong(client) => Measurement::PingPong(client.alone()),
            Self::Connect(client) => Measurement::Connect(client.alone()),
        }
    }

    /// This end of the connections that carried bytes one way.
    #[must_use]
    pub fn flows(&self) -> &[FlowEnd] {
        match self {
            Self::Stream(end) => &end.flows,
            Self::PingPong(end) => &end.beside.flows,
            Self::Connect(_) => &[],
        }
    }

    fn beside(&self, client: &str) -> String {
        format!("one end reports a {client} and the other a {}", self.word())
    }

    const fn word(&self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::PingPong(_) => "ping-pong",
            Self::Connect(_) => "connect",
        }
    }
}

impl From<StreamEnd> for EndMeasurement {
    fn from(end: StreamEnd) -> Self {
        Self::Stream(end)
    }
}

impl From<PingPongEnd> for EndMeasurement {
    fn from(end: PingPongEnd) -> Self {
        Self::PingPong(end)
    }
}

impl From<ConnectEnd> for EndMeasurement {
    fn from(end: ConnectEnd) -> Self {
        Self::Connect(end)
    }
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

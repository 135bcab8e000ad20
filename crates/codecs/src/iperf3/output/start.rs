//! What was agreed before the first byte.

use serde::{Deserialize, Serialize};

use crate::iperf3::number::{maybe_real, maybe_whole, whole};

/// What was agreed. Absent is what a version does not say, or what a test that failed did not come to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// Each data connection, in the order in which they were made.
    pub connected: Vec<ConnectionInfo>,
    /// `iperf 3.12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The machine, as uname tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_info: Option<String>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The server, at a client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connecting_to: Option<Endpoint>,
    /// The client, at a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_connection: Option<Endpoint>,
    /// The test's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<String>,
    /// Largest segment as asked for, in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tcp_mss: Option<i64>,
    /// Largest segment of the control connection, in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tcp_mss_default: Option<i64>,
    /// Rate of each stream in bits a second; 0 is without limit.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub target_bitrate: Option<i64>,
    /// Rate of the kernel's pacing in bits a second.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub fq_rate: Option<i64>,
    /// Buffers as asked for, in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub sock_bufsize: Option<i64>,
    /// The send buffer that the kernel gave.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub sndbuf_actual: Option<i64>,
    /// The receive buffer that the kernel gave.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rcvbuf_actual: Option<i64>,
    /// The test's parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_start: Option<TestStart>,
}

/// A data connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionInfo {
    /// Its socket, by which the measures name it.
    #[serde(deserialize_with = "whole")]
    pub socket: i64,
    /// This end's address.
    pub local_host: String,
    /// This end's port.
    pub local_port: u16,
    /// The other end's address.
    pub remote_host: String,
    /// The other end's port.
    pub remote_port: u16,
}

/// A time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timestamp {
    /// In words, in UTC.
    pub time: String,
    /// In seconds since 1970.
    #[serde(deserialize_with = "whole")]
    pub timesecs: i64,
    /// The same in milliseconds.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub timemillisecs: Option<i64>,
}

/// The other end of the control connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoint {
    /// Name or address.
    pub host: String,
    pub port: u16,
}

/// The test's parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestStart {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    /// Streams in each direction.
    #[serde(deserialize_with = "whole")]
    pub num_streams: i64,
    /// Bytes a write, or a datagram.
    #[serde(deserialize_with = "whole")]
    pub blksize: i64,
    /// Seconds left out at the start.
    #[serde(deserialize_with = "whole")]
    pub omit: i64,
    /// Seconds.
    #[serde(deserialize_with = "whole")]
    pub duration: i64,
    /// Bytes that end it.
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// Writes that end it.
    #[serde(deserialize_with = "whole")]
    pub blocks: i64,
    /// 1 when the server sends.
    #[serde(deserialize_with = "whole")]
    pub reverse: i64,
    /// The IP byte.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tos: Option<i64>,
    /// Rate of each stream in bits a second; 0 is without limit.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub target_bitrate: Option<i64>,
    /// 1 when both send.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub bidir: Option<i64>,
    /// Rate of the kernel's pacing in bits a second.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub fqrate: Option<i64>,
    /// Seconds an interval.
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// 1 when UDP is sent with segmentation offload.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub gso: Option<i64>,
    /// 1 when UDP is received with receive offload.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub gro: Option<i64>,
}

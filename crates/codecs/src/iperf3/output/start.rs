//! Setup of a test.

use serde::{Deserialize, Serialize};

use crate::iperf3::number::{maybe_real, maybe_whole, whole};

/// Setup of a test. Values may be missing in some versions and in failed tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// Data connections in order of creation.
    pub connected: Vec<ConnectionInfo>,
    /// E.g. `iperf 3.12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The host, from uname.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_info: Option<String>,
    /// Start time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The server; written by a client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connecting_to: Option<Endpoint>,
    /// The client; written by a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_connection: Option<Endpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<String>,
    /// Requested maximum segment size in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tcp_mss: Option<i64>,
    /// Maximum segment size of the control connection in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tcp_mss_default: Option<i64>,
    /// Rate per stream in bits per second; 0 is unlimited.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub target_bitrate: Option<i64>,
    /// Kernel pacing rate in bits per second.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub fq_rate: Option<i64>,
    /// Requested buffer size in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub sock_bufsize: Option<i64>,
    /// Actual send buffer in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub sndbuf_actual: Option<i64>,
    /// Actual receive buffer in bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rcvbuf_actual: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_start: Option<TestStart>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionInfo {
    /// Socket number, used as identifier in measures.
    #[serde(deserialize_with = "whole")]
    pub socket: i64,
    /// This end's address.
    pub local_host: String,
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
    /// Text, in UTC.
    pub time: String,
    /// Seconds since 1970.
    #[serde(deserialize_with = "whole")]
    pub timesecs: i64,
    /// Milliseconds since 1970.
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestStart {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    #[serde(deserialize_with = "whole")]
    pub num_streams: i64,
    /// Bytes per write or datagram.
    #[serde(deserialize_with = "whole")]
    pub blksize: i64,
    /// Omitted seconds at the start.
    #[serde(deserialize_with = "whole")]
    pub omit: i64,
    /// Duration in seconds.
    #[serde(deserialize_with = "whole")]
    pub duration: i64,
    /// Bytes to send, if that ends the test.
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// Writes to make, if that ends the test.
    #[serde(deserialize_with = "whole")]
    pub blocks: i64,
    /// 1 if the server sends.
    #[serde(deserialize_with = "whole")]
    pub reverse: i64,
    /// IP TOS byte.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tos: Option<i64>,
    /// Rate per stream in bits per second; 0 is unlimited.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub target_bitrate: Option<i64>,
    /// 1 if both ends send.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub bidir: Option<i64>,
    /// Kernel pacing rate in bits per second.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub fqrate: Option<i64>,
    /// Interval in seconds.
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// 1 with UDP segmentation offload.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub gso: Option<i64>,
    /// 1 with UDP receive offload.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub gro: Option<i64>,
}

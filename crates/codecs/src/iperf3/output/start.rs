//! Setup of a test.

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

use crate::iperf3::number::{maybe_real, maybe_whole, whole};

/// Setup of a test. Values may be missing in some versions and in failed tests.
#[skip_serializing_none]
#[apply(
    Option<i64> => #[serde(deserialize_with = "maybe_whole")],
)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    /// Data connections in order of creation.
    pub connected: Vec<ConnectionInfo>,
    /// E.g. `iperf 3.12`.
    pub version: Option<String>,
    /// The host, from uname.
    pub system_info: Option<String>,
    /// Start time.
    pub timestamp: Option<Timestamp>,
    /// The server; written by a client.
    pub connecting_to: Option<Endpoint>,
    /// The client; written by a server.
    pub accepted_connection: Option<Endpoint>,
    pub cookie: Option<String>,
    /// Requested maximum segment size in bytes.
    pub tcp_mss: Option<i64>,
    /// Maximum segment size of the control connection in bytes.
    pub tcp_mss_default: Option<i64>,
    /// Rate per stream in bits per second; 0 is unlimited.
    pub target_bitrate: Option<i64>,
    /// Kernel pacing rate in bits per second.
    pub fq_rate: Option<i64>,
    /// Requested buffer size in bytes.
    pub sock_bufsize: Option<i64>,
    /// Actual send buffer in bytes.
    pub sndbuf_actual: Option<i64>,
    /// Actual receive buffer in bytes.
    pub rcvbuf_actual: Option<i64>,
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
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timestamp {
    /// Text, in UTC.
    pub time: String,
    /// Seconds since 1970.
    #[serde(deserialize_with = "whole")]
    pub timesecs: i64,
    /// Milliseconds since 1970.
    #[serde(deserialize_with = "maybe_whole")]
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

#[skip_serializing_none]
#[apply(
    i64 => #[serde(deserialize_with = "whole")],
    Option<i64> => #[serde(deserialize_with = "maybe_whole")],
)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestStart {
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
    pub num_streams: i64,
    /// Bytes per write or datagram.
    pub blksize: i64,
    /// Omitted seconds at the start.
    pub omit: i64,
    /// Duration in seconds.
    pub duration: i64,
    /// Bytes to send, if that ends the test.
    pub bytes: i64,
    /// Writes to make, if that ends the test.
    pub blocks: i64,
    /// 1 if the server sends.
    pub reverse: i64,
    /// IP TOS byte.
    pub tos: Option<i64>,
    /// Rate per stream in bits per second; 0 is unlimited.
    pub target_bitrate: Option<i64>,
    /// 1 if both ends send.
    pub bidir: Option<i64>,
    /// Kernel pacing rate in bits per second.
    pub fqrate: Option<i64>,
    /// Interval in seconds.
    #[serde(deserialize_with = "maybe_real")]
    pub interval: Option<f64>,
    /// 1 with UDP segmentation offload.
    pub gso: Option<i64>,
    /// 1 with UDP receive offload.
    pub gro: Option<i64>,
}

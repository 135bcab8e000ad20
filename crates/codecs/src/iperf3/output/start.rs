//! Setup of a test.

use serde::{Deserialize, Serialize};

use crate::iperf3::number::{maybe_real, maybe_whole, whole};

/// Values may be missing in some versions and in failed tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    pub connected: Vec<ConnectionInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_info: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connecting_to: Option<Endpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_connection: Option<Endpoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<String>,
    /// Bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tcp_mss: Option<i64>,
    /// Bytes, on the control connection.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tcp_mss_default: Option<i64>,
    /// Bits per second and stream; 0 is unlimited.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub target_bitrate: Option<i64>,
    /// Kernel pacing, in bits per second.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub fq_rate: Option<i64>,
    /// Bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub sock_bufsize: Option<i64>,
    /// Bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub sndbuf_actual: Option<i64>,
    /// Bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rcvbuf_actual: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_start: Option<TestStart>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionInfo {
    #[serde(deserialize_with = "whole")]
    pub socket: i64,
    pub local_host: String,
    pub local_port: u16,
    pub remote_host: String,
    pub remote_port: u16,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timestamp {
    /// UTC.
    pub time: String,
    #[serde(deserialize_with = "whole")]
    pub timesecs: i64,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub timemillisecs: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoint {
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
    #[serde(deserialize_with = "whole")]
    pub blksize: i64,
    /// Seconds at the start.
    #[serde(deserialize_with = "whole")]
    pub omit: i64,
    /// Seconds.
    #[serde(deserialize_with = "whole")]
    pub duration: i64,
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// Writes, if that ends the test.
    #[serde(deserialize_with = "whole")]
    pub blocks: i64,
    /// 1 if the server sends.
    #[serde(deserialize_with = "whole")]
    pub reverse: i64,
    /// IP TOS byte.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub tos: Option<i64>,
    /// Bits per second and stream; 0 is unlimited.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub target_bitrate: Option<i64>,
    /// 1 if both ends send.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub bidir: Option<i64>,
    /// Kernel pacing, in bits per second.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub fqrate: Option<i64>,
    /// Seconds.
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// UDP segmentation offload.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub gso: Option<i64>,
    /// UDP receive offload.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub gro: Option<i64>,
}

//! The setup of a test.

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

use crate::iperf3::number::{maybe_real, maybe_whole, whole};

/// Some versions and failed tests omit some of these values.
#[skip_serializing_none]
#[apply(
    Option<i64> => #[serde(deserialize_with = "maybe_whole")],
)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Start {
    pub connected: Vec<ConnectionInfo>,
    pub version: Option<String>,
    pub system_info: Option<String>,
    pub timestamp: Option<Timestamp>,
    pub connecting_to: Option<Endpoint>,
    pub accepted_connection: Option<Endpoint>,
    pub cookie: Option<String>,
    /// Bytes.
    pub tcp_mss: Option<i64>,
    /// In bytes, for the control connection.
    pub tcp_mss_default: Option<i64>,
    /// In bits per second for each stream; 0 means unlimited.
    pub target_bitrate: Option<i64>,
    /// Kernel pacing, in bits per second.
    pub fq_rate: Option<i64>,
    /// Bytes.
    pub sock_bufsize: Option<i64>,
    /// Bytes.
    pub sndbuf_actual: Option<i64>,
    /// Bytes.
    pub rcvbuf_actual: Option<i64>,
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

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timestamp {
    /// UTC.
    pub time: String,
    #[serde(deserialize_with = "whole")]
    pub timesecs: i64,
    #[serde(deserialize_with = "maybe_whole")]
    pub timemillisecs: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Endpoint {
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
    pub blksize: i64,
    /// The warm-up at the start of the test, in seconds.
    pub omit: i64,
    /// Seconds.
    pub duration: i64,
    pub bytes: i64,
    /// Number of writes, if that ends the test.
    pub blocks: i64,
    /// 1 if the server sends.
    pub reverse: i64,
    /// The IP TOS byte.
    pub tos: Option<i64>,
    /// In bits per second for each stream; 0 means unlimited.
    pub target_bitrate: Option<i64>,
    /// 1 if both ends send.
    pub bidir: Option<i64>,
    /// Kernel pacing, in bits per second.
    pub fqrate: Option<i64>,
    #[serde(deserialize_with = "maybe_real")]
    pub interval: Option<f64>,
    /// UDP segmentation offload.
    pub gso: Option<i64>,
    /// UDP receive offload.
    pub gro: Option<i64>,
}

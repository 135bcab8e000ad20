//! The output of `iperf3 --json` as versions 3.1 to 3.2x and plumb write it, without duplicate keys.

mod measure;
mod once;
mod start;

use serde::{Deserialize, Serialize};

pub use measure::Measure;
pub use start::{ConnectionInfo, Endpoint, Start, TestStart, Timestamp};

use super::number::real;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    pub start: Start,
    pub intervals: Vec<Interval>,
    pub end: End,
    /// `-T`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_data: Option<String>,
    /// The server's output, with `--get-server-output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_output_json: Option<Box<Self>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interval {
    pub streams: Vec<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Measure>,
    /// The streams that the other end sends, with `--bidir`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_bidir_reverse: Option<Measure>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<Vec<EndStream>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_sent: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_received: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_bidir_reverse: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_sent_bidir_reverse: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_received_bidir_reverse: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_utilization_percent: Option<Cpu>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_tcp_congestion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_tcp_congestion: Option<String>,
}

/// Separate sender and receiver for TCP, combined for UDP.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndStream {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp: Option<Measure>,
}

/// CPU usage of both processes, in percent of one CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    #[serde(deserialize_with = "real")]
    pub host_total: f64,
    #[serde(deserialize_with = "real")]
    pub host_user: f64,
    #[serde(deserialize_with = "real")]
    pub host_system: f64,
    #[serde(deserialize_with = "real")]
    pub remote_total: f64,
    #[serde(deserialize_with = "real")]
    pub remote_user: f64,
    #[serde(deserialize_with = "real")]
    pub remote_system: f64,
}

impl Output {
    /// Parses iperf3's output. Of duplicate keys the first counts, except that a second sum is the other direction, as in 3.7
    /// and 3.8.
    pub fn parse(json: &str) -> serde_json::Result<Self> {
        let once: once::Once = serde_json::from_str(json)?;
        serde_json::from_value(once.0)
    }
}

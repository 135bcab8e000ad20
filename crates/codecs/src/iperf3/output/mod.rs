//! The output of `iperf3 --json` from versions 3.1 to 3.2x and from plumb, without duplicate keys.

mod measure;
mod once;
mod start;

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

pub use measure::Measure;
pub use start::{ConnectionInfo, Endpoint, Start, TestStart, Timestamp};

use super::number::real;

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    pub start: Start,
    pub intervals: Vec<Interval>,
    pub end: End,
    pub title: Option<String>,
    pub extra_data: Option<String>,
    pub server_output_json: Option<Box<Self>>,
    pub server_output_text: Option<String>,
    pub error: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interval {
    pub streams: Vec<Measure>,
    pub sum: Option<Measure>,
    /// The streams sent by the other end (`--bidir`).
    pub sum_bidir_reverse: Option<Measure>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    pub streams: Option<Vec<EndStream>>,
    pub sum: Option<Measure>,
    pub sum_sent: Option<Measure>,
    pub sum_received: Option<Measure>,
    /// The other direction (`--bidir`).
    pub sum_bidir_reverse: Option<Measure>,
    pub sum_sent_bidir_reverse: Option<Measure>,
    pub sum_received_bidir_reverse: Option<Measure>,
    pub cpu_utilization_percent: Option<Cpu>,
    pub sender_tcp_congestion: Option<String>,
    pub receiver_tcp_congestion: Option<String>,
}

/// Totals of a stream. `udp` combines those of both ends.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndStream {
    pub sender: Option<Measure>,
    pub receiver: Option<Measure>,
    pub udp: Option<Measure>,
}

/// CPU usage of both processes, in percent of one CPU.
#[apply(
    f64 => #[serde(deserialize_with = "real")],
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    pub host_total: f64,
    pub host_user: f64,
    pub host_system: f64,
    pub remote_total: f64,
    pub remote_user: f64,
    pub remote_system: f64,
}

impl Output {
    /// Uses the first value of a duplicate key. In iperf3 3.7 and 3.8, a second sum belongs to the other direction.
    pub fn parse(json: &str) -> serde_json::Result<Self> {
        let once: once::Once = serde_json::from_str(json)?;
        serde_json::from_value(once.0)
    }
}

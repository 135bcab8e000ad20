//! The output of `iperf3 --json`, as versions 3.1 to 3.2x write it and as plumb writes it: without a key twice.

mod measure;
mod once;
mod start;

use serde::{Deserialize, Serialize};

pub use measure::Measure;
pub use start::{ConnectionInfo, Endpoint, Start, TestStart, Timestamp};

use super::number::real;

/// Everything.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    /// What was agreed.
    pub start: Start,
    pub intervals: Vec<Interval>,
    /// The summary; empty where the test failed.
    pub end: End,
    /// `-T`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_data: Option<String>,
    /// The server's own output, of `--get-server-output` where the server writes JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_output_json: Option<Box<Self>>,
    /// The server's own output, where it writes text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interval {
    pub streams: Vec<Measure>,
    /// The streams that this end sends, or else those that it receives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Measure>,
    /// With `--bidir`, those that the other end sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_bidir_reverse: Option<Measure>,
}

/// The summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<Vec<EndStream>>,
    /// Of UDP: what was sent, with the receiver's losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_sent: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_received: Option<Measure>,
    /// With `--bidir`, the same of the other way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_bidir_reverse: Option<Measure>,
    /// With `--bidir`, the same of the other way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_sent_bidir_reverse: Option<Measure>,
    /// With `--bidir`, the same of the other way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum_received_bidir_reverse: Option<Measure>,
    /// CPU of both processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_utilization_percent: Option<Cpu>,
    /// Congestion control at the sender, of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_tcp_congestion: Option<String>,
    /// Congestion control at the receiver, of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_tcp_congestion: Option<String>,
}

/// One stream in the summary: of TCP its sender and receiver, of UDP both as one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndStream {
    /// At its sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<Measure>,
    /// At its receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub udp: Option<Measure>,
}

/// CPU of both processes, in percent of one CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// This end, all.
    #[serde(deserialize_with = "real")]
    pub host_total: f64,
    /// This end, in user space.
    #[serde(deserialize_with = "real")]
    pub host_user: f64,
    /// This end, in the kernel.
    #[serde(deserialize_with = "real")]
    pub host_system: f64,
    /// The other end, all.
    #[serde(deserialize_with = "real")]
    pub remote_total: f64,
    /// The other end, in user space.
    #[serde(deserialize_with = "real")]
    pub remote_user: f64,
    /// The other end, in the kernel.
    #[serde(deserialize_with = "real")]
    pub remote_system: f64,
}

impl Output {
    /// Reads what iperf3 wrote. Where a key comes twice the first counts, but a second sum is that of the other
    /// way, as 3.7 and 3.8 meant it.
    ///
    /// # Errors
    /// When it is no JSON, or not iperf3's.
    pub fn parse(json: &str) -> serde_json::Result<Self> {
        let once: once::Once = serde_json::from_str(json)?;
        serde_json::from_value(once.0)
    }
}

//! Results that both ends exchange after a test.

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

use super::{
    Unread,
    number::{maybe_real, maybe_whole, real, whole},
};

#[skip_serializing_none]
#[apply(
    f64 => #[serde(deserialize_with = "real")],
)]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// CPU usage of the process during the test, in percent of one CPU.
    pub cpu_util_total: f64,
    pub cpu_util_user: f64,
    /// Kernel mode.
    pub cpu_util_system: f64,
    /// 1 for a TCP sender with retransmit counts, 0 without, -1 for a receiver.
    #[serde(deserialize_with = "whole")]
    pub sender_has_retransmits: i64,
    /// Congestion control of TCP sockets.
    pub congestion_used: Option<String>,
    /// The server's report as text, if requested.
    pub server_output_text: Option<String>,
    /// The server's report as JSON, if requested and the server writes JSON.
    pub server_output_json: Option<Unread>,
    pub streams: Vec<StreamResults>,
    /// Extension between plumb instances; iperf3 ignores it.
    pub plumb: Option<Unread>,
}

/// One end of a stream, without the `-O` period.
#[skip_serializing_none]
#[apply(
    i64 => #[serde(deserialize_with = "whole")],
    Option<i64> => #[serde(default, deserialize_with = "maybe_whole")],
    Option<f64> => #[serde(default, deserialize_with = "maybe_real")],
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    /// Stream number: see [`super::PlannedStream`].
    pub id: i64,
    /// Payload sent or received by this end.
    pub bytes: i64,
    /// Retransmitted segments at a TCP sender, otherwise -1.
    pub retransmits: i64,
    /// Jitter at a UDP receiver in seconds (RFC 1889).
    #[serde(deserialize_with = "real")]
    pub jitter: f64,
    /// Datagrams lost at a UDP receiver, including the `-O` period.
    pub errors: i64,
    /// Of these, in the `-O` period; since 3.14.
    pub omitted_errors: Option<i64>,
    /// Datagrams sent, or the highest number received, including the `-O` period.
    pub packets: i64,
    /// Of these, in the `-O` period; since 3.14.
    pub omitted_packets: Option<i64>,
    /// Seconds; 0. Since 3.2.
    pub start_time: Option<f64>,
    /// Seconds since the start; since 3.2.
    pub end_time: Option<f64>,
}

impl StreamResults {
    /// Duration in seconds.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end_time? - self.start_time.unwrap_or(0.0))
    }
}

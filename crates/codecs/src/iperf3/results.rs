//! The results that both ends exchange.

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
    /// In percent of one CPU.
    pub cpu_util_total: f64,
    pub cpu_util_user: f64,
    pub cpu_util_system: f64,
    /// 1 for a TCP sender that counts retransmits, -1 for a receiver, otherwise 0.
    #[serde(deserialize_with = "whole")]
    pub sender_has_retransmits: i64,
    pub congestion_used: Option<String>,
    pub server_output_text: Option<String>,
    pub server_output_json: Option<Unread>,
    pub streams: Vec<StreamResults>,
    pub plumb: Option<Unread>,
}

#[skip_serializing_none]
#[apply(
    i64 => #[serde(deserialize_with = "whole")],
    Option<i64> => #[serde(default, deserialize_with = "maybe_whole")],
    Option<f64> => #[serde(default, deserialize_with = "maybe_real")],
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    pub id: i64,
    pub bytes: i64,
    /// Retransmits of a TCP sender, or -1 for other streams.
    pub retransmits: i64,
    /// Jitter in seconds, for a UDP receiver (RFC 1889).
    #[serde(deserialize_with = "real")]
    pub jitter: f64,
    /// Datagrams that a UDP receiver counted as lost, including the `-O` period.
    pub errors: i64,
    /// Datagrams lost in the `-O` period. Since version 3.14.
    pub omitted_errors: Option<i64>,
    /// Datagrams sent, or the highest number received, including the `-O` period.
    pub packets: i64,
    /// Datagrams in the `-O` period. Since version 3.14.
    pub omitted_packets: Option<i64>,
    /// Always 0. Since version 3.2.
    pub start_time: Option<f64>,
    pub end_time: Option<f64>,
}

impl StreamResults {
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end_time? - self.start_time.unwrap_or(0.0))
    }
}

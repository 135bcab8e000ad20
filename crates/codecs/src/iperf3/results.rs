//! Results that both ends exchange after a test.

use serde::{Deserialize, Serialize};

use super::{
    Unread,
    number::{maybe_real, maybe_whole, real, whole},
};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Percent of one CPU.
    #[serde(deserialize_with = "real")]
    pub cpu_util_total: f64,
    #[serde(deserialize_with = "real")]
    pub cpu_util_user: f64,
    #[serde(deserialize_with = "real")]
    pub cpu_util_system: f64,
    /// 1 for a TCP sender with retransmit counts, 0 without, -1 for a receiver.
    #[serde(deserialize_with = "whole")]
    pub sender_has_retransmits: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_json: Option<Unread>,
    pub streams: Vec<StreamResults>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plumb: Option<Unread>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    #[serde(deserialize_with = "whole")]
    pub id: i64,
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// The count of a TCP sender, otherwise -1.
    #[serde(deserialize_with = "whole")]
    pub retransmits: i64,
    /// Seconds at a UDP receiver (RFC 1889).
    #[serde(deserialize_with = "real")]
    pub jitter: f64,
    /// Lost datagrams at a UDP receiver, including the `-O` period.
    #[serde(deserialize_with = "whole")]
    pub errors: i64,
    /// Losses in the `-O` period; since 3.14.
    #[serde(default, deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub omitted_errors: Option<i64>,
    /// Sent, or the highest number received, including the `-O` period.
    #[serde(deserialize_with = "whole")]
    pub packets: i64,
    /// Datagrams in the `-O` period; since 3.14.
    #[serde(default, deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub omitted_packets: Option<i64>,
    /// 0. Since 3.2.
    #[serde(default, deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub start_time: Option<f64>,
    #[serde(default, deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub end_time: Option<f64>,
}

impl StreamResults {
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end_time? - self.start_time.unwrap_or(0.0))
    }
}

//! The results that both ends send each other when a test has ended.

use serde::{Deserialize, Serialize};

use super::{
    Unread,
    number::{maybe_real, maybe_whole, real, whole},
};

/// What one end saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// CPU of the process over the test's time, in percent of one CPU.
    #[serde(deserialize_with = "real")]
    pub cpu_util_total: f64,
    /// The part in user space.
    #[serde(deserialize_with = "real")]
    pub cpu_util_user: f64,
    /// The part in the kernel.
    #[serde(deserialize_with = "real")]
    pub cpu_util_system: f64,
    /// 1 when it sent over TCP and counted retransmissions, 0 when it could not, -1 when it only received.
    #[serde(deserialize_with = "whole")]
    pub sender_has_retransmits: i64,
    /// Congestion control that its sockets had, of TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_used: Option<String>,
    /// The server's report as text, where the client asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_text: Option<String>,
    /// The server's report as JSON, where the client asked for it and the server writes JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_output_json: Option<Unread>,
    pub streams: Vec<StreamResults>,
    /// What one plumb tells another beyond that; iperf3 does not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plumb: Option<Unread>,
}

/// One end of one stream, the time of `-O` left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResults {
    /// Its number: see [`super::PlannedStream`].
    #[serde(deserialize_with = "whole")]
    pub id: i64,
    /// Payload that this end sent or received.
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// Segments sent again, of a TCP sender; else -1.
    #[serde(deserialize_with = "whole")]
    pub retransmits: i64,
    /// Of a UDP receiver, in seconds (RFC 1889).
    #[serde(deserialize_with = "real")]
    pub jitter: f64,
    /// Datagrams that a UDP receiver missed, those of `-O` included.
    #[serde(deserialize_with = "whole")]
    pub errors: i64,
    /// Those of `-O` among them; since 3.14.
    #[serde(default, deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub omitted_errors: Option<i64>,
    /// Datagrams sent; at a receiver, the highest number seen. Those of `-O` included.
    #[serde(deserialize_with = "whole")]
    pub packets: i64,
    /// Those of `-O` among them; since 3.14.
    #[serde(default, deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub omitted_packets: Option<i64>,
    /// Seconds; 0. Since 3.2.
    #[serde(default, deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub start_time: Option<f64>,
    /// Seconds since the start. Since 3.2.
    #[serde(default, deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub end_time: Option<f64>,
}

impl StreamResults {
    /// How long it lasted, in seconds.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end_time? - self.start_time.unwrap_or(0.0))
    }
}

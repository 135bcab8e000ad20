//! Measured values of a stream or sum, per interval or in total.

use serde::{Deserialize, Serialize};

use crate::iperf3::number::{maybe_real, maybe_whole, real, whole};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measure {
    /// Missing in a sum.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub socket: Option<i64>,
    /// Seconds since the start of the test.
    #[serde(deserialize_with = "real")]
    pub start: f64,
    #[serde(deserialize_with = "real")]
    pub end: f64,
    #[serde(deserialize_with = "real")]
    pub seconds: f64,
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    #[serde(deserialize_with = "real")]
    pub bits_per_second: f64,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<i64>,
    /// Bytes, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub snd_cwnd: Option<i64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub snd_wnd: Option<i64>,
    /// Smoothed, in microseconds, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<i64>,
    /// Microseconds.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rttvar: Option<i64>,
    /// Bytes, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub pmtu: Option<i64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub reorder: Option<i64>,
    /// Bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub max_snd_cwnd: Option<i64>,
    /// Bytes.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub max_snd_wnd: Option<i64>,
    /// Microseconds.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub max_rtt: Option<i64>,
    /// Microseconds.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub min_rtt: Option<i64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub mean_rtt: Option<i64>,
    /// RFC 1889.
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<f64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub lost_packets: Option<i64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub packets: Option<i64>,
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub lost_percent: Option<f64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<i64>,
    /// Set in the `-O` period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<bool>,
    /// Whether the reporting end is the sender; since 3.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<bool>,
}

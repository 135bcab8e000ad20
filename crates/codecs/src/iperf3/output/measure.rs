//! What was measured of a stream or a sum, over an interval or over all.

use serde::{Deserialize, Serialize};

use crate::iperf3::number::{maybe_real, maybe_whole, real, whole};

/// Bytes over a time, and what belongs to them. What does not is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measure {
    /// The stream's socket; absent in a sum.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub socket: Option<i64>,
    /// From, in seconds since the start of the test.
    #[serde(deserialize_with = "real")]
    pub start: f64,
    #[serde(deserialize_with = "real")]
    pub end: f64,
    /// How long it was.
    #[serde(deserialize_with = "real")]
    pub seconds: f64,
    /// Payload.
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    /// Its rate.
    #[serde(deserialize_with = "real")]
    pub bits_per_second: f64,
    /// Segments sent again, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<i64>,
    /// Congestion window in bytes, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub snd_cwnd: Option<i64>,
    /// The receiver's window in bytes, as a TCP sender sees it.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub snd_wnd: Option<i64>,
    /// Smoothed round-trip time in microseconds, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<i64>,
    /// Its variation in microseconds.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub rttvar: Option<i64>,
    /// Path MTU in bytes, at a TCP sender.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub pmtu: Option<i64>,
    /// Reorderings that a TCP sender saw.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub reorder: Option<i64>,
    /// Largest congestion window of a TCP sender's intervals.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub max_snd_cwnd: Option<i64>,
    /// Largest of the receiver's windows of a TCP sender's intervals.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub max_snd_wnd: Option<i64>,
    /// Longest round-trip time of a TCP sender's intervals, in microseconds.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub max_rtt: Option<i64>,
    /// Shortest.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub min_rtt: Option<i64>,
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub mean_rtt: Option<i64>,
    /// Jitter in milliseconds, of UDP (RFC 1889).
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub jitter_ms: Option<f64>,
    /// Datagrams that did not come.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub lost_packets: Option<i64>,
    /// Datagrams sent, or that should have come.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub packets: Option<i64>,
    /// Share of the lost ones.
    #[serde(deserialize_with = "maybe_real", skip_serializing_if = "Option::is_none")]
    pub lost_percent: Option<f64>,
    /// Datagrams that came after one with a higher number.
    #[serde(deserialize_with = "maybe_whole", skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<i64>,
    /// Whether it lies in the time that `-O` leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<bool>,
    /// Whether the end that wrote this sends it; since 3.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<bool>,
}

//! Measured values of a stream or sum, per interval or in total.

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

use crate::iperf3::number::{maybe_real, maybe_whole, real, whole};

/// Bytes over a time, with related values if applicable.
#[skip_serializing_none]
#[apply(
    f64 => #[serde(deserialize_with = "real")],
    Option<i64> => #[serde(deserialize_with = "maybe_whole")],
    Option<f64> => #[serde(deserialize_with = "maybe_real")],
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measure {
    /// Socket of the stream; missing in a sum.
    pub socket: Option<i64>,
    /// Start in seconds since the start of the test.
    pub start: f64,
    pub end: f64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Payload.
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    pub bits_per_second: f64,
    /// Retransmitted segments, at a TCP sender.
    pub retransmits: Option<i64>,
    /// Congestion window in bytes, at a TCP sender.
    pub snd_cwnd: Option<i64>,
    /// Receiver's window in bytes, at a TCP sender.
    pub snd_wnd: Option<i64>,
    /// Smoothed round-trip time in microseconds, at a TCP sender.
    pub rtt: Option<i64>,
    /// Variation of the round-trip time in microseconds.
    pub rttvar: Option<i64>,
    /// Path MTU in bytes, at a TCP sender.
    pub pmtu: Option<i64>,
    /// Reorderings, at a TCP sender.
    pub reorder: Option<i64>,
    /// Largest congestion window, at a TCP sender.
    pub max_snd_cwnd: Option<i64>,
    /// Largest receiver's window, at a TCP sender.
    pub max_snd_wnd: Option<i64>,
    /// Longest round-trip time in microseconds, at a TCP sender.
    pub max_rtt: Option<i64>,
    /// Shortest round-trip time in microseconds, at a TCP sender.
    pub min_rtt: Option<i64>,
    pub mean_rtt: Option<i64>,
    /// UDP jitter in milliseconds (RFC 1889).
    pub jitter_ms: Option<f64>,
    pub lost_packets: Option<i64>,
    /// Datagrams sent or expected.
    pub packets: Option<i64>,
    pub lost_percent: Option<f64>,
    pub out_of_order: Option<i64>,
    /// Whether it is in the `-O` period.
    pub omitted: Option<bool>,
    /// Whether the end that wrote this is the sender; since 3.7.
    pub sender: Option<bool>,
}

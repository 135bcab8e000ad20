//! Measured values of a stream or a sum, per interval or in total.

use serde::{Deserialize, Serialize};
use serde_with::{apply, skip_serializing_none};

use crate::iperf3::number::{maybe_real, maybe_whole, real, whole};

#[skip_serializing_none]
#[apply(
    f64 => #[serde(deserialize_with = "real")],
    Option<i64> => #[serde(deserialize_with = "maybe_whole")],
    Option<f64> => #[serde(deserialize_with = "maybe_real")],
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measure {
    /// Absent in a sum.
    pub socket: Option<i64>,
    /// In seconds since the start of the test.
    pub start: f64,
    pub end: f64,
    pub seconds: f64,
    #[serde(deserialize_with = "whole")]
    pub bytes: i64,
    pub bits_per_second: f64,
    pub retransmits: Option<i64>,
    /// The congestion window in bytes, for a TCP sender.
    pub snd_cwnd: Option<i64>,
    /// The send window in bytes, for a TCP sender.
    pub snd_wnd: Option<i64>,
    /// The smoothed RTT in microseconds, for a TCP sender.
    pub rtt: Option<i64>,
    /// Microseconds.
    pub rttvar: Option<i64>,
    /// The path MTU in bytes, for a TCP sender.
    pub pmtu: Option<i64>,
    pub reorder: Option<i64>,
    /// Bytes.
    pub max_snd_cwnd: Option<i64>,
    /// Bytes.
    pub max_snd_wnd: Option<i64>,
    /// Microseconds.
    pub max_rtt: Option<i64>,
    /// Microseconds.
    pub min_rtt: Option<i64>,
    pub mean_rtt: Option<i64>,
    /// As defined in RFC 1889.
    pub jitter_ms: Option<f64>,
    pub lost_packets: Option<i64>,
    pub packets: Option<i64>,
    pub lost_percent: Option<f64>,
    pub out_of_order: Option<i64>,
    /// Whether this is in the `-O` period.
    pub omitted: Option<bool>,
    /// Whether the reporting end is the sender. Since version 3.7.
    pub sender: Option<bool>,
}

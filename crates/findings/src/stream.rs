//! Details of streams.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos};

use crate::{distribution::Distribution, estimate::Estimate};

/// Streams of a result. Rates are in bits per second.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamSummary {
    /// Rate accepted by the senders' sockets (average TX). `None` if it was not reported.
    pub sent: Option<Estimate>,
    /// Rate received (average RX), which is the metric. `None` if it was not reported.
    pub received: Option<Estimate>,
    /// Forward rate. `None` if there was no forward traffic.
    pub forward: Option<Estimate>,
    /// Reverse rate. `None` if there was no reverse traffic.
    pub reverse: Option<Estimate>,
    /// `None` for UDP.
    pub tcp: Option<TcpSummary>,
    /// `None` for TCP.
    pub datagrams: Option<DatagramSummary>,
    /// Delay of messages after their scheduled time. `None` unless the senders were rate-limited.
    pub lateness: Option<Distribution>,
    /// Standard deviation of the interval rates within a trial, as a fraction of their mean. Median over the trials.
    pub stability: Option<f64>,
}

/// TCP_INFO over all trials and connections, excluding the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TcpSummary {
    pub retransmits: u64,
    /// Reorderings detected by senders, which may cause spurious retransmits. `None` if not logged.
    pub reorderings: Option<u64>,
    /// Segments received out of order. `None` if not logged.
    pub out_of_order: Option<u64>,
    /// Smallest and largest congestion window.
    pub cwnd: Option<(Bytes, Bytes)>,
    /// Smoothed round-trip time at the senders under load, as the median over the intervals.
    pub rtt: Option<Nanos>,
    /// Fraction of time in which a receiver's window limited the senders, from 0 to 1. `None` if not logged.
    pub receive_window_limited: Option<f64>,
    /// Fraction of time in which the send buffer limited the senders, from 0 to 1. `None` if not logged.
    pub send_buffer_limited: Option<f64>,
}

/// UDP datagrams of all trials and flows, excluding the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DatagramSummary {
    pub sent: u64,
    /// Datagrams received, excluding duplicates.
    pub received: u64,
    /// Datagrams received per second across all flows. Median over the trials.
    pub rate: f64,
    pub lost: u64,
    /// Fraction of the expected datagrams that were lost, from 0 to 1.
    pub loss: f64,
    /// Datagrams that arrived after a datagram with a higher sequence number.
    pub reordered: u64,
    /// Duplicates received.
    pub duplicates: u64,
    /// Datagrams that arrived without a sequence number, or with one that was never sent.
    #[serde(default)]
    pub strays: u64,
    /// Interarrival jitter at the end of the trial (RFC 3550, section 6.4.1), as the maximum over the flows.
    pub jitter: Nanos,
}

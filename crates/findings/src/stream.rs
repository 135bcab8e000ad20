//! Details of streams besides the received rate.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos};

use crate::{distribution::Distribution, estimate::Estimate};

/// Streams of a result. Rates in bits per second.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamSummary {
    /// Rate accepted by the senders' sockets (average TX); `None` if not reported.
    pub sent: Option<Estimate>,
    /// Rate at the receivers (average RX, the metric); `None` if not reported.
    pub received: Option<Estimate>,
    /// Forward rate; `None` without forward traffic.
    pub forward: Option<Estimate>,
    /// Reverse rate.
    pub reverse: Option<Estimate>,
    /// `None` for UDP.
    pub tcp: Option<TcpSummary>,
    /// `None` for TCP.
    pub datagrams: Option<DatagramSummary>,
    /// Delay of messages after their scheduled time, for senders with a rate.
    pub lateness: Option<Distribution>,
    /// Standard deviation of the interval rates within a trial as a share of their mean; median over the trials.
    pub stability: Option<f64>,
}

/// TCP_INFO totals over all trials and connections, without the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TcpSummary {
    /// Retransmitted segments.
    pub retransmits: u64,
    /// Reorderings detected by senders, i.e. possibly spurious retransmits. `None` if not logged.
    pub reorderings: Option<u64>,
    /// Segments received out of order; `None` if not logged.
    pub out_of_order: Option<u64>,
    /// Smallest and largest congestion window.
    pub cwnd: Option<(Bytes, Bytes)>,
    /// Smoothed round-trip time at the senders under load, median over the intervals.
    pub rtt: Option<Nanos>,
    /// Share of time that a receiver's window limited the senders, 0 to 1; `None` if not logged.
    pub receive_window_limited: Option<f64>,
    /// Share of time that the send buffer limited the senders, 0 to 1; `None` if not logged.
    pub send_buffer_limited: Option<f64>,
}

/// UDP datagrams of all trials and flows, without the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DatagramSummary {
    pub sent: u64,
    /// Received, without duplicates.
    pub received: u64,
    /// Received per second over all flows; median over the trials.
    pub rate: f64,
    /// Lost.
    pub lost: u64,
    /// Lost as a share of all expected, 0 to 1.
    pub loss: f64,
    /// Received after a datagram with a higher number.
    pub reordered: u64,
    /// Received more than once.
    pub duplicates: u64,
    /// With a number that was never sent, or without one.
    #[serde(default)]
    pub strays: u64,
    /// Interarrival jitter at the end (RFC 3550, section 6.4.1); maximum over the flows.
    pub jitter: Nanos,
}

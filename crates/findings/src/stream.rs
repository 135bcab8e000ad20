//! What a stream says beside its receiver's rate.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos};

use crate::{
    cell::{CellSummary, WorkloadSummary},
    distribution::Distribution,
    estimate::Estimate,
};

/// The streams of a cell. Rates in bits per second.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StreamSummary {
    /// What the senders' sockets took: average TX; `None` when no sender told.
    pub sent: Option<Estimate>,
    /// What the receivers got: average RX (the metric); `None` when no receiver told.
    pub received: Option<Estimate>,
    /// Received forward; `None` when nothing flowed forward.
    pub forward: Option<Estimate>,
    /// Received in reverse.
    pub reverse: Option<Estimate>,
    /// What TCP saw of it; `None` for UDP.
    pub tcp: Option<TcpSummary>,
    /// The datagrams; `None` for TCP.
    pub datagrams: Option<DatagramSummary>,
    /// How late messages left, of senders with a rate: after the time that their schedule had for them.
    pub lateness: Option<Distribution>,
    /// Standard deviation of the intervals' rates within a trial as a share of their mean; the median trial's.
    pub stability: Option<f64>,
}

impl StreamSummary {
    /// That of a cell of streams; `None` of another kind.
    #[must_use]
    pub const fn of(cell: &CellSummary) -> Option<&Self> {
        if let WorkloadSummary::Stream(stream) = &cell.measured { Some(stream) } else { None }
    }
}

/// What TCP_INFO said, all trials and connections together, the warm-up left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TcpSummary {
    /// Segments sent again.
    pub retransmits: u64,
    /// Reorderings that senders saw: so often a retransmit need not have been a loss. `None` where a log does not tell.
    pub reorderings: Option<u64>,
    /// Segments that reached receivers out of order; `None` where a log does not tell.
    pub out_of_order: Option<u64>,
    /// Smallest and largest congestion window seen.
    pub cwnd: Option<(Bytes, Bytes)>,
    /// Median over the intervals of the smoothed round-trip time that senders saw under this load.
    pub rtt: Option<Nanos>,
    /// Share of the senders' time for which a receiver's window held them back, 0 to 1; `None` where a log does not tell.
    pub receive_window_limited: Option<f64>,
    /// Share of the senders' time for which their send buffer held them back, 0 to 1; `None` where a log does not tell.
    pub send_buffer_limited: Option<f64>,
}

/// The datagrams of UDP streams, all trials and flows together, the warm-up left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DatagramSummary {
    pub sent: u64,
    /// Received, duplicates not counted.
    pub received: u64,
    /// Received per second, all flows together; the median trial's.
    pub rate: f64,
    /// Never came.
    pub lost: u64,
    /// Lost ones as a share of those that should have come, 0 to 1.
    pub loss: f64,
    /// Came after one with a higher number.
    pub reordered: u64,
    /// Came once more.
    pub duplicates: u64,
    /// Came with a number that was never sent, or with none.
    #[serde(default)]
    pub strays: u64,
    /// Interarrival jitter at the end (RFC 3550, section 6.4.1); the largest of any flow.
    pub jitter: Nanos,
}

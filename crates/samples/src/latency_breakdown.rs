//! The time that messages spend in each step of their path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::LatencyHistogram;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessagePath {
    /// One in this many messages was followed.
    pub every: u32,
    /// Round trips followed from end to end.
    pub followed: u64,
    /// Round trips that took a less common path or were lost by the tracer. The steps exclude them.
    pub not_followed: u64,
    /// Durations of the followed round trips, from the client's send call to the return of its receive call, without
    /// the probe's overhead. Each equals the sum of the message's steps.
    pub round_trip: LatencyHistogram,
    /// The steps of the most common path, in order, to the server, through it, and back.
    pub steps: Vec<HopStep>,
}

/// A step from one point on the path to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HopStep {
    pub from: HopPoint,
    pub to: HopPoint,
    /// Durations, with a resolution of about 3 %, without the probe's overhead at both points.
    pub times: LatencyHistogram,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct HopPoint {
    pub event: HopEvent,
    /// `host:device`, or `?:name` if the host is unknown; `None` in a system call.
    pub device: Option<String>,
    /// The kind of the device, e.g. `veth`, `bridge` or `vxlan`. `None` in a system call or if unknown.
    pub kind: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HopEvent {
    /// The client enters its send call.
    ClientSends,
    /// The stack hands the packet to a device (net_dev_queue).
    Queued,
    /// The device driver gets the packet (net_dev_start_xmit).
    Transmitted,
    /// The stack gets the packet from a device (netif_receive_skb).
    Received,
    /// The server returns from its receive call.
    ServerReceives,
    /// The server enters its send call.
    ServerSends,
    /// The client returns from its receive call.
    ClientReceives,
}

impl MessagePath {
    #[must_use]
    pub fn sum_of_medians(&self) -> Option<Nanos> {
        let medians = self.steps.iter().map(|step| step.times.quantile(0.5));
        medians.sum::<Option<Nanos>>().filter(|_| !self.steps.is_empty())
    }
}

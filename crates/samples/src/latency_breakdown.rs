//! The way of messages through the layers of their path, and the time between each two. Must not know how it is seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::LatencyHistogram;

/// The ways of sampled round trips.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessagePath {
    /// Every so many-th message was followed.
    pub every: u32,
    /// Round trips that were followed to their end.
    pub followed: u64,
    /// Round trips that took another way than the one that most took, or were lost from sight: in no step.
    pub strayed: u64,
    /// From the client's send to its return with the answer, of those followed: system call to system call, and
    /// without the time that the probe itself took in between. It is the sum of the steps, message by message.
    pub whole: LatencyHistogram,
    /// The steps of the way that most took, in order: there, through the server, and back.
    pub steps: Vec<HopStep>,
}

/// From one point of the way to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HopStep {
    /// Where it begins.
    pub from: HopPoint,
    /// Where it ends.
    pub to: HopPoint,
    /// How long it took, to about 3 %; what the probe itself took at both points is in no step.
    pub times: LatencyHistogram,
}

/// A point that a message passes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct HopPoint {
    /// What happens there.
    pub event: HopEvent,
    /// The device, `host:device`; `None` in a system call. A device of no known host is `?:name`.
    pub device: Option<String>,
    /// What the device is: `veth`, `bridge`, `vxlan`; `None` in a system call, or when nobody knows.
    pub kind: Option<String>,
}

/// What happens at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HopEvent {
    /// The client enters its send.
    ClientSends,
    /// The stack hands the packet to a device (net_dev_queue).
    Queued,
    /// The device's driver gets it (net_dev_start_xmit).
    Transmitted,
    /// The stack gets it from a device (netif_receive_skb).
    Received,
    /// The server comes back from its receive.
    ServerReceives,
    /// The server enters its send.
    ServerSends,
    /// The client comes back from its receive.
    ClientReceives,
}

impl MessagePath {
    /// The medians of all steps, added up; `None` without steps.
    #[must_use]
    pub fn sum_of_medians(&self) -> Option<Nanos> {
        let medians = self.steps.iter().map(|step| step.times.quantile(0.5));
        medians.sum::<Option<Nanos>>().filter(|_| !self.steps.is_empty())
    }
}

//! What devices and the machine counted while a trial was made: differences of two readings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCounters {
    /// The devices of the path, in its order.
    pub devices: Vec<DeviceCounters>,
    /// Of the hosts that it passes, where they track connections or translate addresses.
    pub hosts: Vec<HostCounters>,
    /// Of the machine's backlog queues; `None` when they cannot be read.
    pub softnet: Option<SoftnetCounters>,
}

/// What one device counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// `host:device`.
    pub device: String,
    /// Packets received; with receive offload, as many as the stack got.
    pub rx_packets: u64,
    /// Bytes received.
    pub rx_bytes: Bytes,
    /// Packets it received and dropped.
    pub rx_dropped: u64,
    /// Packets it received broken.
    pub rx_errors: u64,
    /// Packets sent; with segmentation offload, as many as the stack handed over.
    pub tx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: Bytes,
    /// Packets dropped instead of sent.
    pub tx_dropped: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Its queueing disciplines at the root.
    pub qdisc: Option<QdiscCounters>,
}

/// What a queueing discipline counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QdiscCounters {
    /// Its kind: `noqueue`, `pfifo_fast`, `tbf`.
    pub kind: String,
    /// Packets that it dropped.
    pub drops: u64,
    /// Times that it was full or over its limit.
    pub overlimits: u64,
    /// Packets that a driver gave back.
    pub requeues: u64,
}

/// What a host counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCounters {
    /// Its name.
    pub host: String,
    /// Connections that it tracked at the second reading; `None` when it tracks none.
    pub tracked: Option<u64>,
    /// Packets whose address its rules translated; `None` when it has no such rules. Only a connection's first counts.
    pub translated: Option<u64>,
}

/// What the backlog queues of all CPUs counted, from /proc/net/softnet_stat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SoftnetCounters {
    /// Packets that they took.
    pub processed: u64,
    /// Packets dropped because a queue was full (net.core.netdev_max_backlog).
    pub dropped: u64,
    /// Times that the budget of a soft interrupt ran out with work left.
    pub squeezed: u64,
}

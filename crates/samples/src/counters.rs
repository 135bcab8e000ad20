//! What devices and the machine counted while a trial was made: differences of two readings.
//! A counter that was set back in between has counted nothing that is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// What was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCounters {
    /// The devices of the path, in its order.
    pub devices: Vec<DeviceCounters>,
    /// Of the hosts on it that translate addresses.
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
    /// The queueing discipline at its root; `None` where it has none, or nobody asked.
    pub qdisc: Option<QdiscCounters>,
    /// Its receive queues in order, from 0; empty where its driver does not count them apart. A veth device does only
    /// while its receive offload is on and its peer's segmentation off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rx_queues: Vec<QueueCounters>,
    /// Its transmit queues, likewise. A veth device never counts them: they are its peer's receive queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tx_queues: Vec<QueueCounters>,
}

/// What the driver of a device counted for one of its queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueCounters {
    /// Packets that it took.
    pub packets: u64,
    pub bytes: Bytes,
    /// Packets that it dropped.
    pub dropped: u64,
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
    /// Connections that it tracked at the second reading; `None` where the kernel does not tell.
    pub tracked: Option<u64>,
    /// Packets whose address its rules translated, only a connection's first; `None` where they cannot be read.
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

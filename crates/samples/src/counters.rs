//! Counters of devices and of the machine during a trial. A counter that was reset during the trial has no value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCounters {
    /// The devices along the path, in order.
    pub devices: Vec<DeviceCounters>,
    /// Hosts on the path that performed NAT or dropped packets.
    pub hosts: Vec<HostCounters>,
    /// The machine's backlog queues; `None` if they cannot be read.
    pub softnet: Option<SoftnetCounters>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// `host:device`.
    pub device: String,
    /// Packets received. With receive offload, counts packets as the stack sees them.
    pub rx_packets: u64,
    pub rx_bytes: Bytes,
    pub rx_dropped: u64,
    pub rx_errors: u64,
    /// Packets sent. With segmentation offload, counts packets before segmentation.
    pub tx_packets: u64,
    pub tx_bytes: Bytes,
    pub tx_dropped: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// The root queueing discipline; `None` if there is none or it was not read.
    pub qdisc: Option<QdiscCounters>,
    /// The nftables rule that polices the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<PolicerCounters>,
    /// Receive queues, starting with queue 0. Empty if the driver has no per-queue counters. A veth only has them while
    /// its receive offload is on and its peer's segmentation offload is off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rx_queues: Vec<QueueCounters>,
    /// Transmit queues. A veth never has these counters, because its transmit queues are its peer's receive queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tx_queues: Vec<QueueCounters>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueCounters {
    pub packets: u64,
    pub bytes: Bytes,
    pub dropped: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QdiscCounters {
    /// The kind, e.g. `noqueue`, `pfifo_fast` or `tbf`.
    pub kind: String,
    pub drops: u64,
    /// Number of times the queueing discipline was full or over its limit.
    pub overlimits: u64,
    pub requeues: u64,
}

/// An nftables rule that drops packets above a rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicerCounters {
    pub bits_per_second: u64,
    /// Whether the rule polices packets that leave the device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
    /// Whether the rule lacks a counter. If so, its drops are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// Packets dropped. A packet built by segmentation offload counts once.
    pub dropped: u64,
    pub dropped_bytes: Bytes,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCounters {
    pub host: String,
    /// Connections tracked at the second reading of the counters. `None` if the kernel does not report them.
    pub tracked: Option<u64>,
    /// Packets with translated addresses. Only the first packet of each connection counts. `None` if the rules cannot
    /// be read.
    pub translated: Option<u64>,
    /// First and last port of the narrowest source NAT rule in nftables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat_ports: Option<[u16; 2]>,
    /// Packets of connections that could not be tracked, e.g. for lack of a NAT port (`insert_failed` of nf_conntrack).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub insert_failed: u64,
    /// Packets of new connections that did not fit into the connection tracking table (`drop` of nf_conntrack minus
    /// `insert_failed`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub table_full: u64,
    /// Packets with a wrong TCP or UDP checksum (`InCsumErrors`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub checksum_errors: u64,
}

impl PathCounters {
    /// Whether the counters of a host explain why no packets arrived.
    #[must_use]
    pub fn explain_failure(&self) -> bool {
        self.hosts.iter().any(|host| host.has_refused() || host.uses_all_ports())
    }
}

impl HostCounters {
    #[must_use]
    pub const fn has_refused(&self) -> bool {
        self.insert_failed > 0 || self.table_full > 0 || self.checksum_errors > 0
    }

    /// Whether the host tracks at least as many connections as its source NAT rule has ports. If so, the kernel (since
    /// 6.7) reuses ports of closed connections that the server may still hold in TIME-WAIT.
    #[must_use]
    pub fn uses_all_ports(&self) -> bool {
        let used = self.nat_ports.zip(self.tracked);
        used.is_some_and(|([first, last], tracked)| tracked > last.saturating_sub(first).into())
    }
}

const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Backlog queue counters, summed over CPUs, from /proc/net/softnet_stat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SoftnetCounters {
    pub processed: u64,
    /// Packets dropped because a queue was full (net.core.netdev_max_backlog).
    pub dropped: u64,
    /// Number of times a soft interrupt used up its budget with work remaining.
    pub squeezed: u64,
}

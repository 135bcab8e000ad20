//! What a device is and does, as the kernel reports it.
//!
//! Plain values for records and reports; it must not know how they are read.

use std::collections::BTreeMap;

use scenario::DeviceRef;

use crate::{link::DeviceKind, spread::CpuSpread};

/// What passed a device since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Bytes received, with their Ethernet headers.
    pub rx_bytes: u64,
    /// Bytes sent, with their Ethernet headers.
    pub tx_bytes: u64,
    /// Received packets that were dropped.
    pub rx_dropped: u64,
    /// Packets that were dropped before they were sent.
    pub tx_dropped: u64,
    /// Packets that arrived broken.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
}

/// A number for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RxTx {
    /// Of what is received.
    pub rx: u32,
    /// Of what is sent.
    pub tx: u32,
}

/// The state of one device, read from the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceState {
    /// The device.
    pub at: DeviceRef,
    /// Its kind.
    pub kind: DeviceKind,
    /// The MTU in bytes.
    pub mtu: u32,
    /// Every feature that the device could have, by ethtool's name, and whether it is active.
    pub features: BTreeMap<String, bool>,
    /// The largest packet that segmentation offload may build, in bytes, for IPv6.
    pub gso_max_size: u32,
    /// The largest packet that receive offload may build, in bytes, for IPv6.
    pub gro_max_size: u32,
    /// The same as `gso_max_size` for IPv4; kernels before 6.3 have one size for both.
    pub gso_ipv4_max_size: u32,
    /// The same as `gro_max_size` for IPv4.
    pub gro_ipv4_max_size: u32,
    /// The queueing discipline at the device's root.
    pub qdisc: String,
    /// Queues that it uses, by ethtool's channels; `None` for a device that has none.
    pub queues: Option<RxTx>,
    /// Packets that its rings hold; `None` for a device that has none.
    pub rings: Option<RxTx>,
    /// The CPUs that its work is spread over; `None` where that cannot be read.
    pub spread: Option<CpuSpread>,
    /// The features that a guest's virtio device and its monitor agreed on; `None` for any other device.
    pub virtio: Option<Vec<String>>,
    /// What passed it so far.
    pub counters: Counters,
}

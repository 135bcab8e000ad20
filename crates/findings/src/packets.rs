//! How large the packets were that the devices of a path passed on, and how many segments one of them stood for: what
//! segmentation and receive offload really did.

use schemars::JsonSchema;
use serde::Serialize;
use units::Bytes;

/// The packets of a cell, all trials added up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PacketSummary {
    /// The devices of its path, in its order.
    pub devices: Vec<DevicePackets>,
    /// The packets that carried its data; `None` where nobody counted its segments, or as much went either way.
    pub data: Option<DataPackets>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DevicePackets {
    /// `host:device`.
    pub device: String,
    /// What it received; `None` where that was next to nothing.
    pub received: Option<PacketSize>,
    /// What it sent, likewise.
    pub sent: Option<PacketSize>,
}

/// Packets of one device in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PacketSize {
    /// How many.
    pub packets: u64,
    /// Their mean size, with their headers.
    pub mean: Bytes,
    /// Segments, or datagrams of UDP, that one of them stood for: those that the sender's sockets counted, over the
    /// packets that the device counted.
    pub segments: Option<f64>,
}

/// The packets that carried a cell's data from its sender to its receiver.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DataPackets {
    /// Segments a packet at the first device of their way.
    pub first: f64,
    /// At the last one.
    pub last: f64,
    /// The first device at which they were less than half of what they were before.
    pub cut: Option<PacketCut>,
}

/// Where packets were cut into smaller ones.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PacketCut {
    /// The device, `host:device`.
    pub device: String,
    /// Segments a packet there.
    pub segments: f64,
}

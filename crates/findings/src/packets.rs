//! Packet sizes and segments per packet, which show the actual effect of segmentation and receive offload.

use schemars::JsonSchema;
use serde::Serialize;
use units::Bytes;

/// Totals over all trials of a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PacketSummary {
    /// Devices along the path, in order.
    pub devices: Vec<DevicePackets>,
    /// Data packets. `None` if segments were not counted, or if data flowed equally in both directions.
    pub data: Option<DataPackets>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DevicePackets {
    /// `host:device`.
    pub device: String,
    /// Received packets. `None` if the device received hardly any packets.
    pub received: Option<PacketSize>,
    /// Sent packets. `None` if the device sent hardly any packets.
    pub sent: Option<PacketSize>,
}

/// Packets of one device in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PacketSize {
    pub packets: u64,
    /// Mean size in bytes, including headers.
    pub mean: Bytes,
    /// Segments or UDP datagrams sent by the sender's sockets, per packet counted by the device.
    pub segments: Option<f64>,
}

/// Data packets from sender to receiver.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DataPackets {
    /// Segments per packet at the first device of the path.
    pub first: f64,
    pub last: f64,
    /// The first device with less than half as many segments per packet as the device before it.
    pub cut: Option<PacketCut>,
}

/// Where packets are segmented.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PacketCut {
    /// `host:device`.
    pub device: String,
    pub segments: f64,
}

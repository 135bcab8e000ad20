//! The state of a device during a trial, and its settings as text.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::affinity::CpuAffinity;

/// A device as reported by the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceState {
    /// `host:device`.
    pub device: String,
    /// The kind, e.g. `veth`, `bridge` or `vxlan`.
    pub kind: String,
    pub mtu: u32,
    /// Offload features by kernel name, and whether each is active.
    pub features: BTreeMap<String, bool>,
    /// Maximum packet size of segmentation offload (IPv4).
    pub gso_max_size: Option<Bytes>,
    /// Maximum packet size of receive offload (IPv4).
    pub gro_max_size: Option<Bytes>,
    /// Queues in use; `None` if there are none or they were not read.
    #[serde(default)]
    pub queues: Option<RxTx>,
    /// Ring sizes, in packets; `None` if there are none or they were not read.
    #[serde(default)]
    pub rings: Option<RxTx>,
    /// Interrupt coalescing; `None` if the driver does not support it or it was not read.
    #[serde(default)]
    pub coalescing: Option<Coalescing>,
    /// CPU affinity. `None` if it could not be read.
    #[serde(default)]
    pub spread: Option<CpuAffinity>,
    /// Negotiated features of a guest's virtio device, as in linux/virtio_net.h but in lower case. `None` for other
    /// devices or if unreadable.
    #[serde(default)]
    pub virtio: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RxTx {
    pub rx: u32,
    pub tx: u32,
}

impl fmt::Display for RxTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.rx, self.tx)
    }
}

/// Interrupt coalescing, with the parameter names of ethtool(8). In settings, `None` leaves a parameter unchanged. In a
/// device's state, `None` means that the driver does not support it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coalescing {
    /// Interrupt delay after a received packet, in microseconds.
    pub rx_usecs: Option<u32>,
    pub rx_frames: Option<u32>,
    /// Interrupt delay after a sent packet, in microseconds.
    pub tx_usecs: Option<u32>,
    pub tx_frames: Option<u32>,
    pub adaptive_rx: Option<bool>,
    pub adaptive_tx: Option<bool>,
}

impl Coalescing {
    pub const NONE: Self = Self {
        rx_usecs: None,
        rx_frames: None,
        tx_usecs: None,
        tx_frames: None,
        adaptive_rx: None,
        adaptive_tx: None,
    };

    #[must_use]
    pub fn each(&self) -> [(&'static str, Option<String>); 6] {
        let number = |value: Option<u32>| value.map(|value| value.to_string());
        let switch = |on: Option<bool>| on.map(|on| if on { "on".to_owned() } else { "off".to_owned() });
        [
            ("rx-usecs", number(self.rx_usecs)),
            ("rx-frames", number(self.rx_frames)),
            ("tx-usecs", number(self.tx_usecs)),
            ("tx-frames", number(self.tx_frames)),
            ("adaptive-rx", switch(self.adaptive_rx)),
            ("adaptive-tx", switch(self.adaptive_tx)),
        ]
    }

    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            rx_usecs: self.rx_usecs.or(other.rx_usecs),
            rx_frames: self.rx_frames.or(other.rx_frames),
            tx_usecs: self.tx_usecs.or(other.tx_usecs),
            tx_frames: self.tx_frames.or(other.tx_frames),
            adaptive_rx: self.adaptive_rx.or(other.adaptive_rx),
            adaptive_tx: self.adaptive_tx.or(other.adaptive_tx),
        }
    }
}

impl fmt::Display for Coalescing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters =
            self.each().into_iter().filter_map(|(word, value)| Some(format!("{word} {}", value?)));
        f.write_str(&parameters.collect::<Vec<_>>().join(", "))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct DeviceSettingFact {
    pub title: &'static str,
    pub noun: &'static str,
    pub of: fn(&DeviceState) -> Option<String>,
}

impl DeviceState {
    pub const SETTINGS: [DeviceSettingFact; 6] = [
        fact("MTU", "MTU", |device| Some(device.mtu.to_string())),
        fact("GSO max", "maximum GSO packet size", |device| {
            device.gso_max_size.map(|size| size.0.to_string())
        }),
        fact("GRO max", "maximum GRO packet size", |device| {
            device.gro_max_size.map(|size| size.0.to_string())
        }),
        fact("Queues rx/tx", "queues", |device| device.queues.map(|queues| queues.to_string())),
        fact("Rings rx/tx", "rings", |device| device.rings.map(|rings| rings.to_string())),
        fact("Coalescing", "coalescing", |device| device.coalescing.map(|when| when.to_string())),
    ];
}

const fn fact(
    title: &'static str,
    noun: &'static str,
    of: fn(&DeviceState) -> Option<String>,
) -> DeviceSettingFact {
    DeviceSettingFact { title, noun, of }
}

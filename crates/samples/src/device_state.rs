//! What a device was like in a trial, as the kernel reported it, and the settings among that in words. Must not know how it is
//! read or set.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::affinity::CpuAffinity;

/// A device as the kernel reported it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceState {
    /// `host:device`.
    pub device: String,
    /// What it is: `veth`, `bridge`, `vxlan`.
    pub kind: String,
    pub mtu: u32,
    /// Offload features by the kernel's names, on or off as active.
    pub features: BTreeMap<String, bool>,
    /// The largest packet that segmentation offload may build (IPv4).
    pub gso_max_size: Option<Bytes>,
    /// The largest packet that receive offload may build (IPv4).
    pub gro_max_size: Option<Bytes>,
    /// Queues that it uses; `None` where it has none, or nobody asked.
    #[serde(default)]
    pub queues: Option<RxTx>,
    /// Packets that its rings hold; `None` where it has none, or nobody asked.
    #[serde(default)]
    pub rings: Option<RxTx>,
    /// When it interrupts; `None` where its driver says nothing of it, or nobody asked.
    #[serde(default)]
    pub coalescing: Option<Coalescing>,
    /// The CPUs that its work is spread over; `None` where nobody could read them.
    #[serde(default)]
    pub spread: Option<CpuAffinity>,
    /// What the driver of a guest's virtio device and its monitor agreed on, by the names of linux/virtio_net.h in lower
    /// case; `None` for any other device, and where nobody could read it.
    #[serde(default)]
    pub virtio: Option<Vec<String>>,
}

/// A number for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RxTx {
    /// Of what is received.
    pub rx: u32,
    /// Of what is sent.
    pub tx: u32,
}

impl fmt::Display for RxTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.rx, self.tx)
    }
}

/// For how long and for how many packets a device waits before it interrupts, by the names of ethtool(8). `None` is left
/// alone, or what its driver does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coalescing {
    /// Microseconds after a packet came in.
    pub rx_usecs: Option<u32>,
    /// Packets that came in.
    pub rx_frames: Option<u32>,
    /// Microseconds after a packet was sent.
    pub tx_usecs: Option<u32>,
    /// Packets that were sent.
    pub tx_frames: Option<u32>,
    /// Whether the driver chooses for what comes in, by how much that is.
    pub adaptive_rx: Option<bool>,
    /// The same for what is sent.
    pub adaptive_tx: Option<bool>,
}

impl Coalescing {
    /// Nothing is said of any.
    pub const NONE: Self = Self {
        rx_usecs: None,
        rx_frames: None,
        tx_usecs: None,
        tx_frames: None,
        adaptive_rx: None,
        adaptive_tx: None,
    };

    /// Its parameters by their names, with their values in words.
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

    /// These, and `other` where nothing is said.
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
        let said = self.each().into_iter().filter_map(|(word, value)| Some(format!("{word} {}", value?)));
        f.write_str(&said.collect::<Vec<_>>().join(", "))
    }
}

/// A setting that a device's state tells.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSettingFact {
    /// What it is called, over a column.
    pub title: &'static str,
    /// What it is called in a sentence.
    pub noun: &'static str,
    /// In words; `None` where the device has none, or nobody asked.
    pub of: fn(&DeviceState) -> Option<String>,
}

impl DeviceState {
    /// Its settings but for the offloads, which are many, in the order in which they are shown.
    pub const SETTINGS: [DeviceSettingFact; 6] = [
        fact("MTU", "MTU", |device| Some(device.mtu.to_string())),
        fact("GSO max", "largest GSO packet", |device| device.gso_max_size.map(|size| size.0.to_string())),
        fact("GRO max", "largest GRO packet", |device| device.gro_max_size.map(|size| size.0.to_string())),
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

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
    /// Its MTU.
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
    pub const SETTINGS: [DeviceSettingFact; 5] = [
        fact("MTU", "MTU", |device| Some(device.mtu.to_string())),
        fact("GSO max", "largest GSO packet", |device| device.gso_max_size.map(|size| size.0.to_string())),
        fact("GRO max", "largest GRO packet", |device| device.gro_max_size.map(|size| size.0.to_string())),
        fact("Queues rx/tx", "queues", |device| device.queues.map(|queues| queues.to_string())),
        fact("Rings rx/tx", "rings", |device| device.rings.map(|rings| rings.to_string())),
    ];
}

const fn fact(
    title: &'static str,
    noun: &'static str,
    of: fn(&DeviceState) -> Option<String>,
) -> DeviceSettingFact {
    DeviceSettingFact { title, noun, of }
}

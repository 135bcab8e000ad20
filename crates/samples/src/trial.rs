//! A trial: one workload, on one path, at one setting of the factors; what was recorded of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::{
    connect::ConnectData, counters::PathCounters, cpu::CpuUsage, doubt::Doubt, observed::Observed,
    ping_pong::PingPongData, reported::ReportedData, spread::CpuSpread, stream::StreamData,
    syscalls::SyscallCount, time::UnixMillis,
};

/// Why a trial was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// To measure its cell.
    Measure,
    /// The baseline once more in the same block: what equal settings differ by (the noise floor).
    Again,
    /// Its cell once more in the same block with the probes on: what they saw, and what they cost. No number of
    /// the cell comes from it.
    Probed,
}

/// A finished trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Its place in the plan, from 0.
    pub index: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Its cell's identity.
    pub cell: String,
    /// Why it was made.
    pub arm: Arm,
    /// When it began.
    pub started: UnixMillis,
    /// What was measured.
    pub measurement: Measurement,
    /// CPU time of the machine and of the agents' threads while it was measured.
    pub cpu: CpuUsage,
    /// The devices of its path as the kernel reported them just before it.
    pub devices: Vec<DeviceState>,
    /// What was checked about its path just before it.
    pub path_check: PathCheck,
    /// System calls that another tool counted while it was measured.
    #[serde(default)]
    pub syscalls: Vec<SyscallCount>,
    /// What probes saw of it, when it was made with them.
    #[serde(default)]
    pub observed: Option<Observed>,
    /// What devices and the machine counted from just before it to just after; `None` where nobody read them.
    #[serde(default)]
    pub counters: Option<PathCounters>,
    /// Reasons to distrust it.
    pub doubts: Vec<Doubt>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial: a box would save nothing that counts")]
pub enum Measurement {
    /// Of a stream: every connection, at both ends.
    Stream(StreamData),
    /// Of a ping-pong: the round trips.
    PingPong(PingPongData),
    /// Of connections: their rate and times.
    Connect(ConnectData),
    /// Of another tool: what it reported, without samples.
    Reported(ReportedData),
}

/// A device as the kernel reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub spread: Option<CpuSpread>,
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

/// What was checked about a path just before a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCheck {
    /// The largest IP packet that went end to end unfragmented; `None` when not probed.
    pub mtu: Option<u32>,
}

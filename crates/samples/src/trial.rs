//! A trial: one workload, on one path, at one setting of the factors; what was recorded of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use workload::Measurement;

use crate::{
    counters::PathCounters,
    cpu::CpuUsage,
    device_state::DeviceState,
    observed::ProbeResults,
    syscalls::SyscallCount,
    time::UnixMillis,
    warning::{DiscardedAttempt, ValidityWarning},
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
    /// Its cell, which is measured beside others, once more in the same block with none beside it: what measuring at the
    /// same time changes. No number of the cell comes from it.
    Alone,
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
    pub observed: Option<ProbeResults>,
    /// What devices and the machine counted from just before it to just after; `None` where nobody read them.
    #[serde(default)]
    pub counters: Option<PathCounters>,
    /// How many others were made at the same time, between other hosts.
    #[serde(default, skip_serializing_if = "is_none")]
    pub beside: u32,
    /// Reasons to distrust it.
    pub doubts: Vec<ValidityWarning>,
    /// The attempts before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<DiscardedAttempt>,
}

const fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What was checked about a path just before a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCheck {
    /// The largest IP packet that went end to end unfragmented; `None` when not probed.
    pub mtu: Option<u32>,
}

//! Over which CPUs the work of a device is spread. Must not know what came of it: `counters` does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPUs that were set for the queues and interrupts of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuAffinity {
    /// Of each receive queue in order, those that its packets are handed on to (rps_cpus); an empty list where that is
    /// off, so that packets stay on the CPU that received them.
    pub rps: Vec<Vec<u32>>,
    /// Of each transmit queue in order, those that choose it when they send (xps_cpus); an empty list where a hash
    /// chooses.
    pub xps: Vec<Vec<u32>>,
    /// Its interrupts; none of a device without hardware, such as a veth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<Interrupt>,
}

impl CpuAffinity {
    /// Whether anything was set, or is bound to a CPU by its nature.
    #[must_use]
    pub fn is_told(&self) -> bool {
        !self.interrupts.is_empty() || self.rps.iter().chain(&self.xps).any(|cpus| !cpus.is_empty())
    }
}

/// An interrupt of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupt {
    /// Its number on the machine.
    pub number: u32,
    /// Its name in /proc/interrupts, such as `virtio2-input.0`; `None` where nobody told it.
    pub name: Option<String>,
    /// The CPUs that it really goes to (effective_affinity_list).
    pub cpus: Vec<u32>,
}

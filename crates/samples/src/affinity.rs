//! The CPUs that process a device's queues and interrupts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuAffinity {
    /// For each receive queue, the CPUs that its packets are steered to (rps_cpus). Empty if RPS is off: packets stay
    /// on the CPU that received them.
    pub rps: Vec<Vec<u32>>,
    /// For each transmit queue, the CPUs that use it (xps_cpus). Empty if a hash selects the queue.
    pub xps: Vec<Vec<u32>>,
    /// Empty for devices without hardware, such as a veth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<Interrupt>,
}

impl CpuAffinity {
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.interrupts.is_empty() || self.rps.iter().chain(&self.xps).any(|cpus| !cpus.is_empty())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupt {
    pub number: u32,
    /// Name in /proc/interrupts, such as `virtio2-input.0`; `None` if unknown.
    pub name: Option<String>,
    /// The CPUs that handle the interrupt (effective_affinity_list).
    pub cpus: Vec<u32>,
}

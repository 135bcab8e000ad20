//! The machine that a run was measured on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// A fingerprint of the machine. Unknown values are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Kernel release, as in uname -r.
    pub kernel: String,
    /// Hardware architecture, as in uname -m.
    pub architecture: String,
    pub cpu_model: Option<String>,
    pub cpus: u32,
    /// CPUs that this process may use, by number.
    pub usable_cpus: Vec<u32>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    pub memory: Bytes,
    /// Whether the CPU reports a hypervisor.
    pub virtual_machine: bool,
    pub clock_source: Option<String>,
    pub congestion_default: Option<String>,
    pub congestion_available: Vec<String>,
    /// Load averages over 1, 5 and 15 minutes, before the run.
    pub load_average: Option<[f64; 3]>,
    /// Whether the lab was created as root rather than in a user namespace.
    pub privileged: bool,
    pub engine: Option<Calibration>,
    /// Why the run was moved to an emulated machine. `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
}

/// Median costs of the traffic engine's operations on this machine, measured when an agent starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// Time to read the clock, in nanoseconds.
    pub clock_ns: f64,
    /// Time for the cheapest system call, in nanoseconds.
    pub syscall_ns: f64,
    /// Wake-up delay of a sleeping thread, in nanoseconds.
    pub wake_ns: f64,
}

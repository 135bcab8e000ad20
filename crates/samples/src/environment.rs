//! The machine on which a run was made: what must be equal before two runs are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// A fingerprint of the machine. What could not be learned is `None`, never a guess.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Kernel release, as uname -r.
    pub kernel: String,
    /// Hardware architecture, as uname -m.
    pub architecture: String,
    /// The CPU's name.
    pub cpu_model: Option<String>,
    /// CPUs online.
    pub cpus: u32,
    /// CPUs that this process may use, by number.
    pub usable_cpus: Vec<u32>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    pub memory: Bytes,
    /// Whether the CPU says that it is virtual.
    pub virtual_machine: bool,
    /// The clock source in use.
    pub clock_source: Option<String>,
    /// Default congestion control.
    pub congestion_default: Option<String>,
    /// Congestion controls that can be chosen.
    pub congestion_available: Vec<String>,
    /// Load averages over 1, 5 and 15 minutes, before the run.
    pub load_average: Option<[f64; 3]>,
    /// Whether the lab was created as root of the machine; otherwise in a user namespace.
    pub privileged: bool,
    /// What the engine's own steps cost here.
    pub engine: Option<Calibration>,
    /// Why it is a virtual hypervisor that was booted for the run, if it is one: an emulated machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
}

/// What the traffic engine's own steps cost on this machine, measured when an agent starts: medians.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// A look at the clock, in nanoseconds.
    pub clock_ns: f64,
    /// The cheapest system call, in nanoseconds.
    pub syscall_ns: f64,
    /// How much later than asked a sleeping thread runs, in nanoseconds.
    pub wake_ns: f64,
}

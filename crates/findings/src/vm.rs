//! A running virtual machine. A single sample has no confidence intervals.

use samples::{VmFacts, VmRole};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{claim::Finding, trace::TraceSummary};

/// Readers reject other versions.
pub const VM_SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmSummary {
    /// [`VM_SCHEMA`] at the time of writing.
    pub schema: u32,
    pub tool: String,
    pub vm: VmFacts,
    /// CPU time by thread role. Omits roles without threads.
    pub roles: Vec<VmRoleCpu>,
    /// The threads' activity, and the machine's CPU attribution.
    pub trace: TraceSummary,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmRoleCpu {
    pub role: VmRole,
    pub threads: u32,
    /// Average CPU time, in CPUs.
    pub cpus: f64,
    /// CPU time in the guest. `None` for threads that do not run a vCPU.
    pub guest: Option<f64>,
    /// CPUs used by the busiest thread. At 1, this thread is saturated.
    pub busiest: f64,
    /// Fraction of runnable time spent waiting for a host CPU, from 0 to 1. `None` if no thread was runnable.
    pub waited: Option<f64>,
}

//! A running virtual machine. A single sample, so there are no intervals.

use samples::{VmFacts, VmRole};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{claim::Finding, trace::TraceSummary};

/// Readers reject other versions.
pub const VM_SCHEMA: u32 = 1;

/// The analysis of a running virtual machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmSummary {
    /// [`VM_SCHEMA`] at the time of writing.
    pub schema: u32,
    /// Version of plumb.
    pub tool: String,
    /// Settings of the machine.
    pub vm: VmFacts,
    /// CPU time by role of the threads; only existing roles.
    pub roles: Vec<VmRoleCpu>,
    /// Activity of its threads and CPU attribution of the machine.
    pub trace: TraceSummary,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
}

/// CPU time of the threads of one role.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmRoleCpu {
    pub role: VmRole,
    /// Number of threads.
    pub threads: u32,
    /// Average CPU time, in CPUs.
    pub cpus: f64,
    /// Time in the guest; `None` for threads without a vCPU.
    pub guest: Option<f64>,
    /// CPUs used by the busiest thread; at 1 it is saturated.
    pub busiest: f64,
    /// Share of runnable time spent waiting for a host CPU, 0 to 1; `None` if never runnable.
    pub waited: Option<f64>,
}

//! What a virtual machine that ran anyway says: what it is, who has its CPU time, and what to set instead. It was looked at
//! once: nothing here has an interval.

use samples::{VmFacts, VmRole};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{claim::Finding, trace::TraceSummary};

/// The version of [`VmSummary`]'s shape. A reader refuses another one.
pub const VM_SCHEMA: u32 = 1;

/// What one virtual machine says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmSummary {
    /// [`VM_SCHEMA`] when it was written.
    pub schema: u32,
    /// The version of plumb.
    pub tool: String,
    /// What was read of it.
    pub vm: VmFacts,
    /// CPU time by what a thread is for; only roles that it has.
    pub roles: Vec<VmRoleCpu>,
    /// What its threads did meanwhile, and who had the machine's CPUs.
    pub trace: TraceSummary,
    /// What to set instead, the most severe first.
    pub claims: Vec<Finding>,
}

/// CPU time of the threads of one role.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmRoleCpu {
    pub role: VmRole,
    /// How many they are.
    pub threads: u32,
    /// What they had on average, in CPUs.
    pub cpus: f64,
    /// Of that, in the guest; `None` where they run none.
    pub guest: Option<f64>,
    /// What the busiest of them had, in CPUs: at 1 it can do no more.
    pub busiest: f64,
    /// Of the time that they wanted a CPU of the host, they waited so much for one, 0 to 1; `None` when they wanted none.
    pub waited: Option<f64>,
}

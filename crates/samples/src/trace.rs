//! Probe data about a running program, as written by `plumb trace`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    counters::{DeviceCounters, SoftnetCounters},
    environment::Environment,
    observed::{MissingProbe, ProbeKind, ProbeResults},
    time::UnixMillis,
};

/// Schema version of [`Trace`]. Other versions are rejected.
pub const TRACE_SCHEMA: u32 = 1;

/// A trace. Contains recorded data only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// [`TRACE_SCHEMA`] at the time of writing.
    pub schema: u32,
    pub tool: String,
    pub started: UnixMillis,
    pub target: TraceTarget,
    pub ended: TraceEnd,
    pub environment: Environment,
    pub probes: Vec<ProbeKind>,
    #[serde(default)]
    pub missing: Vec<MissingProbe>,
    pub observed: ProbeResults,
    /// Device counters in the target's network namespace; empty if the target has several.
    #[serde(default)]
    pub devices: Vec<DeviceCounters>,
    #[serde(default)]
    pub softnet: Option<SoftnetCounters>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceTarget {
    pub kind: TargetKind,
    /// The target as given by the user, e.g. `1234`, `pod1`, `vm-client` or a command line.
    pub name: String,
    /// The target's processes at the start.
    pub processes: Vec<TracedProcess>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// Processes by ID.
    Processes,
    /// All processes in a network namespace.
    Namespace,
    /// All processes in a control group.
    ControlGroup,
    /// A QEMU process, with its vCPUs and vhost threads.
    Qemu,
    /// A command started by the trace.
    Command,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedProcess {
    pub pid: u32,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum TraceEnd {
    /// The requested time has passed.
    TimeOver,
    Interrupted {
        /// The requested time; `None` for no limit.
        requested: Option<Nanos>,
    },
    /// The target ended.
    TargetEnded {
        /// How a command ended, e.g. `status 1` or `signal 9`. `None` if unknown.
        status: Option<String>,
    },
}

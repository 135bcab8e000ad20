//! What probes saw of something that ran anyway, without a lab: the document of `plumb trace`. Must not know how it
//! was watched or is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    counters::{DeviceCounters, SoftnetCounters},
    environment::Environment,
    observed::{MissingProbe, ProbeKind, ProbeResults},
    time::UnixMillis,
};

/// The version of [`Trace`]'s shape. A reader refuses another one.
pub const TRACE_SCHEMA: u32 = 1;

/// One trace: everything that was recorded, nothing computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// [`TRACE_SCHEMA`] when it was written.
    pub schema: u32,
    /// The version of plumb.
    pub tool: String,
    /// When it began.
    pub started: UnixMillis,
    /// What was traced.
    pub target: TraceTarget,
    /// Why it ended.
    pub ended: TraceEnd,
    /// The machine.
    pub environment: Environment,
    /// The probes that looked.
    pub probes: Vec<ProbeKind>,
    /// Those that cannot look here.
    #[serde(default)]
    pub missing: Vec<MissingProbe>,
    /// What they saw; its time is that of the whole trace.
    pub observed: ProbeResults,
    /// What the devices of the target's network namespace counted meanwhile; empty where it is not one namespace.
    #[serde(default)]
    pub devices: Vec<DeviceCounters>,
    /// What the machine's backlog queues counted meanwhile.
    #[serde(default)]
    pub softnet: Option<SoftnetCounters>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceTarget {
    /// What kind of thing.
    pub kind: TargetKind,
    /// As the user named it: `1234`, `pod1`, `vm-client`, the command line.
    pub named: String,
    /// The processes that were found at its beginning.
    pub processes: Vec<TracedProcess>,
}

/// What can be traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// Processes by number.
    Processes,
    /// Every process of a network namespace.
    Namespace,
    /// Every process of a control group.
    ControlGroup,
    /// A QEMU, its guest's CPUs and its vhost threads.
    Qemu,
    /// A program that was started to be traced.
    Command,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TracedProcess {
    /// Its number.
    pub pid: u32,
    pub name: String,
}

/// Why a trace ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum TraceEnd {
    /// The time that was asked for was over.
    TimeOver,
    Interrupted {
        /// After so long it would have ended; `None` where no time was set.
        asked: Option<Nanos>,
    },
    /// What was traced ended.
    TargetEnded {
        /// How, where it was started by the trace: `status 1`, `signal 9`; `None` when nobody knows.
        how: Option<String>,
    },
}

//! The records of a run: plain, versioned values for storage and transfer.

mod affinity;
mod counters;
mod cpu;
mod cpu_attribution;
mod design;
mod device_state;
mod environment;
mod imported;
mod latency_breakdown;
mod observed;
mod origin;
mod read;
mod run;
mod selection;
mod syscalls;
mod text;
mod time;
mod trace;
mod trial;
mod vm;
mod warning;

pub use affinity::{CpuAffinity, Interrupt};
pub use counters::{
    DeviceCounters, HostCounters, PathCounters, PolicerCounters, QdiscCounters, QueueCounters,
    SoftnetCounters,
};
pub use cpu::{CpuThrottling, CpuTimes, CpuUsage, GuestCpu, MachineCpu, ThreadCpu, ThreadRole};
pub use cpu_attribution::{AttributedCpu, AttributionSource, ConsumerShare, CpuConsumer};
pub use design::{Design, EndReason, Objective, ResultEnd};
pub use device_state::{Coalescing, DeviceSettingFact, DeviceState, RxTx};
pub use environment::{Calibration, Environment};
pub use imported::{ImportedKind, ImportedSettings, WorkloadSource};
pub use latency_breakdown::{HopEvent, HopPoint, HopStep, MessagePath};
pub use observed::{MissingProbe, Overflow, ProbeKind, ProbeResults, PtraceSlice, PtraceSlices};
pub use origin::{ImportRecord, ImportedFile, Origin};
pub use read::ReadError;
pub use run::{
    BootedMachine, MachineChange, PathRecord, RemedyTrial, RemedyTrials, ResultRecord, RunHeader, RunId,
    RunRecord, RunState, SCHEMA, ScenarioRecord, Sink, SkippedResult, UnreadablePart, VmSettings,
    WorkloadLimit,
};
pub use selection::{is_mostly_disturbed, leaves_out_disturbed};
pub use syscalls::{CallTimes, SyscallCount};
pub use time::UnixMillis;
pub use trace::{TRACE_SCHEMA, TargetKind, Trace, TraceEnd, TraceTarget, TracedProcess};
pub use trial::{Arm, BlackHole, FunctionCount, InstructionCounts, PathCheck, Trial};
pub use vm::{
    NegotiatedFeatures, Unread, VmAccelerator, VmDevice, VmFacts, VmMaster, VmMonitor, VmRole, VmThread,
};
pub use warning::{DiscardedAttempt, Disturber, ValidityWarning};

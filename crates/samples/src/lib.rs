//! What a run recorded: trials, interval series, histograms, provenance.
//!
//! Plain, versioned values that are stored, shipped and read again alone. Nothing here was computed from
//! several trials (that is `findings`), and nothing here says how it was measured or kept.

mod counters;
mod cpu;
mod design;
mod device_state;
mod doubt;
mod environment;
mod observed;
mod origin;
mod owners;
mod run;
mod spread;
mod syscalls;
mod time;
mod told;
mod trace;
mod trial;
mod tries;
mod vm;
mod way;

pub use counters::{
    DeviceCounters, HostCounters, PathCounters, QdiscCounters, QueueCounters, SoftnetCounters,
};
pub use cpu::{CpuTimes, CpuUsage, GuestCpu, MachineCpu, ThreadCpu, ThreadRole};
pub use design::{CellEnd, Design, EndReason, Objective};
pub use device_state::{Coalescing, DeviceSettingFact, DeviceState, RxTx};
pub use doubt::Doubt;
pub use environment::{Calibration, Environment};
pub use observed::{MissingProbe, Observed, Overflow, ProbeKind, Stopping, StoppingSlice};
pub use origin::{ImportRecord, ImportedFile, Origin};
pub use owners::{OwnedCpu, Owner, OwnerShare, OwnerSource};
pub use run::{
    CellRecord, PathRecord, RunHeader, RunId, RunRecord, RunState, SCHEMA, ScenarioRecord, Sink, Skipped,
};
pub use spread::{CpuSpread, Interrupt};
pub use syscalls::{CallTimes, SyscallCount};
pub use time::UnixMillis;
pub use told::{Sent, Told, ToldKind};
pub use trace::{TRACE_SCHEMA, TargetKind, Trace, TraceEnd, TraceTarget, TracedProcess};
pub use trial::{Arm, PathCheck, Trial};
pub use tries::{TriedRemedy, Tries};
pub use vm::{Unread, VmAccelerator, VmDevice, VmFacts, VmMaster, VmMonitor, VmNegotiated, VmRole, VmThread};
pub use way::{PacketWay, WayEvent, WayPoint, WayStep};

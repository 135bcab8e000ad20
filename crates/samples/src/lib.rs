//! What a run recorded: trials, interval series, histograms, provenance.
//!
//! Plain, versioned values that are stored, shipped and read again alone. Nothing here was computed from
//! several trials (that is `findings`), and nothing here says how it was measured or kept.

mod connect;
mod counters;
mod cpu;
mod design;
mod doubt;
mod environment;
mod headline;
mod histogram;
mod observed;
mod origin;
mod owners;
mod ping_pong;
mod reported;
mod run;
mod socket;
mod spread;
mod stream;
mod syscalls;
mod time;
mod told;
mod trace;
mod trial;
mod tries;
mod vm;
mod way;

pub use connect::{ConnectData, ConnectInterval};
pub use counters::{
    DeviceCounters, HostCounters, PathCounters, QdiscCounters, QueueCounters, SoftnetCounters,
};
pub use cpu::{CpuTimes, CpuUsage, GuestCpu, MachineCpu, ThreadCpu, ThreadRole};
pub use design::{CellEnd, Design, EndReason, Objective};
pub use doubt::Doubt;
pub use environment::{Calibration, Environment};
pub use headline::Metric;
pub use histogram::LatencyHistogram;
pub use observed::{MissingProbe, Observed, Overflow, ProbeKind, Stopping, StoppingSlice};
pub use origin::{ImportRecord, ImportedFile, Origin};
pub use owners::{OwnedCpu, Owner, OwnerShare, OwnerSource};
pub use ping_pong::{OpenLoopData, PingPongData, PingPongInterval};
pub use reported::{Quantity, ReportedData, ReportedValue};
pub use run::{
    CellRecord, PathRecord, RunHeader, RunId, RunRecord, RunState, SCHEMA, ScenarioRecord, Sink, Skipped,
};
pub use socket::SocketFacts;
pub use spread::{CpuSpread, Interrupt};
pub use stream::{DatagramSample, EndSeries, Flow, Interval, StreamData, TcpSample};
pub use syscalls::{CallTimes, SyscallCount};
pub use time::UnixMillis;
pub use told::{Sent, Told, ToldKind};
pub use trace::{TRACE_SCHEMA, TargetKind, Trace, TraceEnd, TraceTarget, TracedProcess};
pub use trial::{Arm, DeviceState, Measurement, PathCheck, RxTx, Trial};
pub use tries::{TriedRemedy, Tries};
pub use vm::{Unread, VmAccelerator, VmDevice, VmFacts, VmMaster, VmMonitor, VmNegotiated, VmRole, VmThread};
pub use way::{PacketWay, WayEvent, WayPoint, WayStep};

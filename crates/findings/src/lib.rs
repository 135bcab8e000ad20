//! What the numbers say: cells, ladders, effects, claims with evidence and remedy.
//!
//! Made by `analysis` from a stored run, read by `report`; complete in itself, so that a report needs
//! nothing else but the raw series that it folds away. Says nothing of how it was computed or is printed.

mod alternatives;
mod answer;
mod cell;
mod claim;
mod contrast;
mod distribution;
mod document;
mod estimate;
mod ladder;
mod latency;
mod packets;
mod probed;
mod solo;
mod stream;
mod trace;
mod vm;

pub use alternatives::{Rank, Ranking, TwinPair, Twins};
pub use answer::{Answer, FrontierPoint, Knee, Recommendation};
pub use cell::*;
pub use claim::{Brought, Change, Evidence, Finding, Remedy, Severity};
pub use contrast::{
    BetweenRuns, CONTRAST_SCHEMA, CellContrast, Checked, Contrast, Gate, GateOutcome, SurroundingChange,
    Undecided, Verdict,
};
pub use distribution::{Bucket, Distribution};
pub use document::{Findings, RunSummary, SCHEMA};
pub use estimate::{Basis, Comparison, Difference, Estimate, Interval, NoiseFloor};
pub use ladder::{FactorEffect, Ladder, Rung};
pub use latency::{ConnectSummary, LatencySummary, OpenLoopSummary};
pub use packets::{DataPackets, DevicePackets, PacketCut, PacketSize, PacketSummary};
pub use probed::{
    CallRates, CpuByOwner, CpuProbeCost, EndCalls, GuestTime, Leg, LostProbe, MachineTimes, OwnerPart,
    OwnerTime, ProbeCost, ProbedSummary, ProcessCalls, RunProbes, StepKind, StepSummary, WaySummary,
};
pub use samples::Objective;
pub use solo::{
    LevelShift, SOLO_SCHEMA, Solo, SoloConnect, SoloFlow, SoloLevels, SoloOutcome, SoloRate, SoloStream,
    Spread,
};
pub use stream::{DatagramSummary, StreamSummary, TcpSummary};
pub use trace::{
    CallContrast, OwnerContrast, TRACE_CONTRAST_SCHEMA, TraceContrast, TraceSummary, TracedCall, TracedCpu,
    TracedPace, TracedShare, TracedStopping,
};
pub use vm::{VM_SCHEMA, VmRoleCpu, VmSummary};
pub use workload::Metric;

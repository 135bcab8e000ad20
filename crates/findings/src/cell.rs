//! What the trials of one cell say together.

use std::collections::BTreeMap;

use samples::{CellEnd, DeviceState, PathCounters, SyscallCount, ValidityWarning};
use schemars::JsonSchema;
use serde::Serialize;
use workload::{BalloonMethod, BalloonMove, Metric, ReportedValue, SocketFacts, Work};

use crate::{
    estimate::{Comparison, Estimate},
    latency::{ConnectSummary, LatencySummary},
    packets::PacketSummary,
    probed::{GuestTime, LatencyBreakdown, ProbedSummary},
    single::LevelShift,
    stream::StreamSummary,
};

/// A cell in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellSummary {
    /// Its identity.
    pub id: String,
    pub path: String,
    /// The layers of its path.
    pub layers: Vec<String>,
    pub workload: String,
    /// What the workload sends, in a few words: `1 TCP stream forward, 128 KiB writes, cubic, cross-cpu`.
    pub load: String,
    /// Levels of the factors, by label.
    pub levels: BTreeMap<String, String>,
    /// Whether it is its workload's baseline.
    pub baseline: bool,
    /// What it is judged by.
    pub metric: Metric,
    /// That metric over its trials.
    pub value: Estimate,
    /// Each trial's value, in order of blocks.
    pub values: Vec<f64>,
    /// Against the baseline of its workload; `None` for the baseline itself.
    pub against_baseline: Option<Comparison>,
    /// What its kind of workload says beside.
    pub measured: WorkloadSummary,
    /// What it cost; `None` when nobody recorded the machine's CPU time.
    pub cpu: Option<CpuCost>,
    /// What the kernels of guests counted of their own CPUs, the client's first; the median over the trials.
    pub guests: Vec<GuestTime>,
    /// What each owner of CPU time spent: traffic threads of an end, a machine as another tool reported it.
    pub owners: Vec<OwnerCost>,
    /// Columns that another tool reported, the metric's included; the median over the trials.
    pub reported: Vec<ReportedValue>,
    /// Where the rate jumped within a trial and stayed, by trial and time.
    pub shifts: Vec<CellShift>,
    /// System calls that were counted, those with most time first: by a probe, or by another tool.
    pub syscalls: Vec<SyscallCount>,
    /// What probes saw of it in trials of their own; `None` where none was made.
    pub probed: Option<ProbedSummary>,
    /// What devices and the machine counted while it was measured, all trials added up; `None` where nobody read them.
    pub counters: Option<PathCounters>,
    /// How large packets were on their way; `None` where nobody counted them.
    pub packets: Option<PacketSummary>,
    /// Why it got no more trials, where that is settled.
    pub ended: Option<CellEnd>,
    /// What the kernel really gave the sockets, by end.
    pub sockets: Vec<EndSocket>,
    /// The devices of its path as they were set.
    pub devices: Vec<DeviceState>,
    /// The largest IP packet that went end to end unfragmented, where probed.
    pub path_mtu: Option<u32>,
    /// Doubts of its trials, each kind once, the strongest, and how many trials had it.
    pub doubts: Vec<(ValidityWarning, u32)>,
}

impl CellSummary {
    /// The way of its messages; `None` where no probe followed them.
    #[must_use]
    pub fn way(&self) -> Option<&LatencyBreakdown> {
        self.probed.as_ref()?.way.as_ref()
    }
}

/// What one owner of CPU time spent on a cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OwnerCost {
    /// Who: `client threads`, `machine`, `Server VM`.
    pub owner: String,
    /// How much, in `unit`; the median over the trials.
    pub value: f64,
    pub unit: OwnerUnit,
}

/// What an owner's CPU time is told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnerUnit {
    /// CPUs busy on average.
    Cpus,
    /// Share of the owner's own CPUs, 0 to 1, whose number is not known.
    Share,
}

/// A jump of the rate within a trial of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellShift {
    /// The trial's place in the run.
    pub trial: u32,
    /// When, and from which level to which.
    #[serde(flatten)]
    pub shift: LevelShift,
}

/// What the kernel really gave the sockets of one end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EndSocket {
    /// Which: `sender`, `receiver`, `client`, `server`.
    pub end: String,
    /// The first socket's facts, with every CPU that a thread of this end was seen on.
    pub socket: SocketFacts,
}

/// CPU time of a cell's trials (median over the trials).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct CpuCost {
    /// CPUs of the machine.
    pub cpus: u32,
    /// CPUs that were busy on average, system-wide, but for those of processes that have no part in it.
    pub busy: f64,
    /// CPUs of those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: f64,
    /// Of these, in user space.
    pub user: f64,
    /// In the kernel for a task.
    pub system: f64,
    /// In soft and hard interrupts.
    pub interrupts: f64,
    /// Stolen by the hypervisor, in CPUs.
    pub steal: f64,
    /// CPUs that the client's traffic threads used.
    pub client: f64,
    /// CPUs that the server's traffic threads used.
    pub server: f64,
    /// System-wide, for what its workload does; `None` where it did nothing, or not it alone.
    pub per_work: Option<WorkCost>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// CPU time for a unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WorkCost {
    /// What was done.
    pub work: Work,
    /// System-wide CPU-seconds for 10^9 bytes, or a million messages or connections.
    pub seconds: f64,
}

/// First touches of memory, all trials added up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FirstTouchSummary {
    /// Page faults for a GiB: 262144 are one for each page of 4 KiB, 512 one for each huge page of 2 MiB.
    pub faults_per_gib: f64,
    /// Page faults that needed no input or output.
    pub minor_faults: u64,
    /// Those that did.
    pub major_faults: u64,
}

/// What memory that moved says beside its rate: medians over the trials, but for the stall.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BalloonSummary {
    pub method: BalloonMethod,
    #[serde(rename = "move")]
    pub way: BalloonMove,
    /// From the request until the first of it had moved, in nanoseconds.
    pub first: f64,
    /// The part of the time in which the guest touched it, 0 to 1.
    pub touching: f64,
    /// What the host got for each byte that was taken, or had to put behind each that was given back.
    pub resident_per_byte: f64,
    /// The longest time of any trial for which the guest stood still, in nanoseconds.
    pub longest_stall: f64,
}

impl BalloonSummary {
    /// That of a cell in which memory is taken; `None` of any other.
    #[must_use]
    pub fn of_shrink(cell: &CellSummary) -> Option<&Self> {
        match &cell.measured {
            WorkloadSummary::Balloon(balloon) if balloon.way == BalloonMove::Shrink => Some(balloon),
            _ => None,
        }
    }
}

/// What the trials of a cell say together beside their value, by the kind of its workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSummary {
    Stream(StreamSummary),
    PingPong(LatencySummary),
    /// Of connections.
    Connect(ConnectSummary),
    /// Of first touches of memory.
    FirstTouch(FirstTouchSummary),
    Balloon(BalloonSummary),
    /// Nothing more: another tool's word, without samples.
    Reported,
}

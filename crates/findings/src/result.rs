//! Summary of one result over its trials.

use std::collections::BTreeMap;

use samples::{DeviceState, PathCounters, ResultEnd, SyscallCount, ValidityWarning};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;
use workload::{BalloonMethod, BalloonMove, Metric, ReportedValue, SocketFacts, Work};

use crate::{
    distribution::Distribution,
    estimate::{Comparison, Estimate},
    latency::{ConnectSummary, LatencySummary},
    packets::PacketSummary,
    phrase::Phrase,
    probed::{GuestTime, LatencyBreakdown, ProbedSummary},
    stream::StreamSummary,
};

/// A result: one workload on one path at one setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultSummary {
    pub id: String,
    /// Display name: the path, the levels and, in runs with several workloads, the workload.
    pub label: String,
    pub path: String,
    pub layers: Vec<String>,
    pub workload: String,
    /// Short description of the traffic, e.g. `1 TCP stream forward, 128 KiB writes, cubic, cross-cpu`.
    pub load: String,
    pub levels: BTreeMap<String, String>,
    /// Whether this result is the baseline of its workload.
    pub baseline: bool,
    /// The metric used for verdicts.
    pub metric: Metric,
    /// The metric over all trials.
    pub value: Estimate,
    /// The metric's value in each trial, in block order.
    pub values: Vec<f64>,
    /// The result relative to the workload's baseline. `None` for the baseline itself.
    pub against_baseline: Option<Comparison>,
    pub measured: WorkloadSummary,
    /// CPU cost. `None` if the machine's CPU time was not recorded.
    pub cpu: Option<CpuCost>,
    /// CPU time according to the guests' kernels, as the median over the trials. The client comes first.
    pub guests: Vec<GuestTime>,
    /// CPU time by owner. An owner is one end's traffic threads, or a machine in another tool's report.
    pub consumers: Vec<ConsumerCost>,
    /// Columns reported by another tool, including the metric. Each value is the median over the trials.
    pub reported: Vec<ReportedValue>,
    pub shifts: Vec<ResultShift>,
    /// System calls counted by a probe or another tool, longest total time first.
    pub syscalls: Vec<SyscallCount>,
    /// Executed instructions by group of functions, largest first. Empty if they were not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<InstructionGroup>,
    /// Data from probed trials. `None` if the run has no probed trials.
    pub probed: Option<ProbedSummary>,
    /// Device and machine counters over all trials. `None` if they were not read.
    pub counters: Option<PathCounters>,
    /// Packet sizes on the path. `None` if packets were not counted.
    pub packets: Option<PacketSummary>,
    /// Why the result got no more trials. `None` if no such decision was made.
    pub ended: Option<ResultEnd>,
    /// Effective socket settings, by end.
    pub sockets: Vec<EndSocket>,
    /// Devices on the path, with their settings.
    pub devices: Vec<DeviceState>,
    /// Largest IP packet that passed end to end without fragmentation. `None` if it was not probed.
    pub path_mtu: Option<u32>,
    /// The strongest warning of each kind, and the number of trials with that kind.
    pub warnings: Vec<(ValidityWarning, u32)>,
}

/// Instructions executed by related functions. Groups are disjoint and add up to the trials' mean total.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InstructionGroup {
    /// Name of the group, e.g. `TCP`, or a kernel module such as `veth`.
    pub name: String,
    /// Per 10^9 bytes, or per message.
    pub per_work: f64,
    pub share: f64,
    /// The functions with the most instructions.
    pub functions: Vec<FunctionInstructions>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FunctionInstructions {
    pub function: String,
    /// Per 10^9 bytes, or per message.
    pub per_work: f64,
}

/// The path of a result if its log does not name a path.
pub const NO_PATH: &str = "unknown";

#[must_use]
pub fn result_label(path: &str, levels: &BTreeMap<String, String>, workload: Option<&str>) -> String {
    let path = Some(path.to_owned()).filter(|path| path != NO_PATH);
    let levels = levels.iter().map(|(factor, level)| format!("{factor}={level}"));
    path.into_iter().chain(levels).chain(workload.map(str::to_owned)).collect::<Vec<_>>().join(", ")
}

#[must_use]
pub fn label_in_workload(path: &str, levels: &BTreeMap<String, String>, workload: &str) -> String {
    let is_nameless = path == NO_PATH && levels.is_empty();
    result_label(path, levels, is_nameless.then_some(workload))
}

impl ResultSummary {
    #[must_use]
    pub fn times(&self) -> Option<&Distribution> {
        if let WorkloadSummary::PingPong(latency) = &self.measured { Some(latency.judged()) } else { None }
    }

    #[must_use]
    pub fn latency_breakdown(&self) -> Option<&LatencyBreakdown> {
        self.probed.as_ref()?.latency_breakdown.as_ref()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerCost {
    /// The owner, e.g. `client threads`, `machine`, `Server VM`.
    pub consumer: String,
    /// CPU time in `unit`, as the median over the trials.
    pub value: f64,
    pub unit: ConsumerUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConsumerUnit {
    /// Average number of busy CPUs.
    Cpus,
    /// Fraction of the owner's CPUs, from 0 to 1. Used if the number of CPUs is unknown.
    Share,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResultShift {
    pub trial: u32,
    #[serde(flatten)]
    pub shift: LevelShift,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EndSocket {
    /// `sender`, `receiver`, `client` or `server`.
    pub end: String,
    /// Settings of the first socket, and all CPUs on which this end's threads ran.
    pub socket: SocketFacts,
}

/// CPU time, as medians over the trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct CpuCost {
    pub cpus: u32,
    /// Average number of busy CPUs, excluding unrelated processes.
    pub busy: f64,
    /// CPUs used by unrelated processes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: f64,
    /// CPUs busy in user space.
    pub user: f64,
    /// CPUs busy in the kernel on behalf of tasks.
    pub system: f64,
    /// CPUs busy in soft and hardware interrupts.
    pub interrupts: f64,
    /// Steal time, in CPUs.
    pub steal: f64,
    /// CPUs used by the client's traffic threads.
    pub client: f64,
    /// CPUs used by the server's traffic threads.
    pub server: f64,
    /// The whole system's cost per unit of work. `None` if there was no work, or if there were several kinds of work.
    pub per_work: Option<WorkCost>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WorkCost {
    pub work: Work,
    /// CPU-seconds of the whole system per 10^9 bytes, or per million messages or connections.
    pub seconds: f64,
}

/// First touches of memory, as totals over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FirstTouchSummary {
    /// Page faults per GiB: 262144 is one per 4 KiB page, 512 one per 2 MiB huge page.
    pub faults_per_gib: f64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
}

/// Memory moved between guest and host. All numbers except the stall are medians over the trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct BalloonSummary {
    pub method: BalloonMethod,
    #[serde(rename = "move")]
    pub direction: BalloonMove,
    /// Time from the request until the first byte was moved, in nanoseconds.
    pub first: f64,
    /// Fraction of the time during which the guest touched the memory, from 0 to 1.
    pub touching: f64,
    /// Bytes gained by the host per byte taken from the guest, or bytes populated per byte returned.
    pub resident_per_byte: f64,
    /// Longest stall of the guest in any trial, in nanoseconds.
    pub longest_stall: f64,
}

impl BalloonSummary {
    #[must_use]
    pub fn of_shrink(result: &ResultSummary) -> Option<&Self> {
        match &result.measured {
            WorkloadSummary::Balloon(balloon) if balloon.direction == BalloonMove::Shrink => Some(balloon),
            _ => None,
        }
    }
}

/// Workload-specific measurements.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSummary {
    Stream(StreamSummary),
    PingPong(LatencySummary),
    Connect(ConnectSummary),
    FirstTouch(FirstTouchSummary),
    Balloon(BalloonSummary),
    /// No further measurements, only a value reported by another tool.
    Reported,
}

impl ConnectSummary {
    #[must_use]
    pub const fn of(result: &ResultSummary) -> Option<&Self> {
        if let WorkloadSummary::Connect(connect) = &result.measured { Some(connect) } else { None }
    }
}

impl LatencySummary {
    #[must_use]
    pub const fn of(result: &ResultSummary) -> Option<&Self> {
        if let WorkloadSummary::PingPong(latency) = &result.measured { Some(latency) } else { None }
    }
}

impl StreamSummary {
    #[must_use]
    pub const fn of(result: &ResultSummary) -> Option<&Self> {
        if let WorkloadSummary::Stream(stream) = &result.measured { Some(stream) } else { None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LevelShift {
    /// Time since the end of the warm-up.
    pub at: Nanos,
    /// Level before the shift, in the unit of the outcome.
    pub before: f64,
    pub after: f64,
}

impl From<&ResultSummary> for Phrase {
    fn from(result: &ResultSummary) -> Self {
        Self::result(&result.id, &result.label)
    }
}

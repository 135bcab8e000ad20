//! Traces of running processes. A trace is a single sample, so it has no confidence intervals.

use samples::{
    AttributionSource, CpuConsumer, DeviceCounters, MissingProbe, Overflow, SoftnetCounters, SyscallCount,
    TraceEnd, TraceTarget, UnixMillis,
};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

use crate::{comparison::EnvironmentChange, estimate::Interval};

/// Readers reject other versions.
pub const TRACE_COMPARISON_SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceSummary {
    pub target: TraceTarget,
    pub started: UnixMillis,
    pub elapsed: Nanos,
    /// Why the trace ended. `None` while it is running.
    pub ended: Option<TraceEnd>,
    /// Number of online CPUs.
    pub cpus: u32,
    /// System calls by kind and thread, longest total time first.
    pub calls: Vec<TracedCall>,
    /// All calls of each thread, longest running time first.
    pub threads: Vec<TracedCall>,
    /// All calls together. `None` if there were no calls.
    pub all: Option<TracedCall>,
    /// Calls that started during the trace and are still running, with their time so far. Other fields exclude
    /// these calls. The count is the number of threads in the call.
    #[serde(default)]
    pub under_way: Vec<SyscallCount>,
    /// Overhead of counting calls with ptrace. `None` if ptrace was not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptrace: Option<PtraceCost>,
    /// CPU attribution. `None` if it was not recorded.
    pub cpu: Option<TracedCpu>,
    /// Devices with traffic.
    pub devices: Vec<DeviceCounters>,
    /// The machine's backlog queues.
    pub softnet: Option<SoftnetCounters>,
    /// Events that could not be counted.
    pub overflowed: Vec<Overflow>,
    /// Probes that were unavailable.
    pub missing: Vec<MissingProbe>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedCall {
    /// If this counts several kinds of calls, `call` is the kind with the most time.
    pub count: SyscallCount,
    pub threads: u32,
    /// Calls per second of the trace.
    pub rate: f64,
    /// This row's fraction of the time that all threads spent in system calls, from 0 to 1. `None` if calls were not
    /// timed.
    pub share: Option<f64>,
    /// Mean time per call.
    pub per_call: Option<Nanos>,
    /// Upper bound of the 99th percentile of call times, a power of two. `None` if calls were not timed.
    pub p99_below: Option<Nanos>,
}

/// Overhead of counting system calls with ptrace, which stops the process. Calls are counted in slices with
/// pauses in between.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PtraceCost {
    /// Total time spent counting. Rates and counts refer to this time.
    pub counted: Nanos,
    /// Number of slices followed by a complete pause.
    pub pairs: u32,
    /// Reads and writes per second while counting, relative to the following pause. `None` if there are too few
    /// reads and writes, or if there is no pause.
    pub pace: Option<TracedPace>,
    /// CPU time per second while counting, relative to the following pause.
    pub cpu: Option<TracedPace>,
    /// Lower bound on the average number of stopped threads while counting. 2 means that two threads were
    /// stopped all the time.
    pub stopped: f64,
}

/// A rate while counting, relative to the following pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TracedPace {
    /// Fraction of the rate that remains while counting. 0.1 means a tenth.
    pub ratio: f64,
    /// `None` if there are too few slices.
    pub interval: Option<Interval>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedCpu {
    /// How CPU time was attributed.
    pub source: AttributionSource,
    /// Why a better method was unavailable, if known.
    pub reason: Option<String>,
    /// CPU time by owner, largest first.
    pub shares: Vec<TracedShare>,
    /// Sum over the owners, in CPUs.
    pub explained: f64,
    /// Busy time in /proc/stat, in CPUs. `None` if the trace is too short for that file's 10 ms ticks.
    pub busy: Option<f64>,
    pub steal: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedShare {
    pub consumer: CpuConsumer,
    /// Process name, if relevant.
    pub process: Option<String>,
    /// Thread name, if relevant.
    pub thread: Option<String>,
    /// The CPU, if the time belongs to a single CPU.
    pub cpu: Option<u32>,
    pub time: Nanos,
    /// `time` in CPUs. 0.5 means that half a CPU was used all the time.
    pub cpus: f64,
}

/// Trace B relative to trace A, the reference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceComparison {
    /// [`TRACE_COMPARISON_SCHEMA`] at the time of writing.
    pub schema: u32,
    pub a: TraceSummary,
    pub b: TraceSummary,
    /// Differences between the environments, the most significant first.
    pub environment_changes: Vec<EnvironmentChange>,
    /// Calls in either trace by kind, longest total time first.
    pub calls: Vec<CallComparison>,
    /// CPU time of either trace by owner.
    pub consumers: Vec<ConsumerComparison>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallComparison {
    pub call: String,
    pub a: Option<TracedCall>,
    pub b: Option<TracedCall>,
    /// Ratio of the calls per second, B/A.
    pub rate_ratio: Option<f64>,
    /// Ratio of the time per call, B/A.
    pub per_call_ratio: Option<f64>,
    /// Ratio of the running time per second, B/A.
    pub running_ratio: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerComparison {
    pub consumer: CpuConsumer,
    /// CPUs used in A.
    pub a: f64,
    /// CPUs used in B.
    pub b: f64,
    /// Ratio of the CPU times, B/A. `None` if the owner used no CPU time in A.
    pub ratio: Option<f64>,
}

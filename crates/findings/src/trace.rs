//! Traces of running processes. A trace is a single sample, so it has no confidence intervals.

use samples::{
    AttributionSource, CpuConsumer, DeviceCounters, MissingProbe, Overflow, SoftnetCounters, SyscallCount,
    TraceEnd, TraceTarget, UnixMillis,
};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

use crate::{comparison::EnvironmentChange, estimate::Interval};

/// Version of the format. Readers reject other versions.
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
    /// All calls together, if any.
    pub all: Option<TracedCall>,
    /// Calls that started during the trace and are still running, with their time so far. Other fields exclude
    /// them. The count is the number of threads in the call.
    #[serde(default)]
    pub under_way: Vec<SyscallCount>,
    /// Overhead of counting calls with ptrace, if used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptrace: Option<PtraceCost>,
    /// CPU attribution. `None` if not recorded.
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
    /// For several kinds of calls, `call` is the kind with the most time.
    pub count: SyscallCount,
    pub threads: u32,
    /// Calls per second of the trace.
    pub rate: f64,
    /// Fraction of all threads' time in system calls, from 0 to 1. `None` if not timed.
    pub share: Option<f64>,
    /// Mean time per call.
    pub per_call: Option<Nanos>,
    /// Upper bound of the 99th percentile, as a power of two. `None` if not timed.
    pub p99_below: Option<Nanos>,
}

/// Overhead of counting system calls with ptrace, which stops the process, in slices with pauses in between.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PtraceCost {
    /// Total time spent counting. Rates and counts refer to this time.
    pub counted: Nanos,
    /// Slices followed by a complete pause.
    pub pairs: u32,
    /// Reads and writes per second while counting, relative to the following pause. `None` with too few of
    /// them, or without a pause.
    pub pace: Option<TracedPace>,
    /// CPU time per second while counting, relative to the following pause.
    pub cpu: Option<TracedPace>,
    /// Lower bound on the average number of stopped threads while counting. 2 means two threads all the time.
    pub stopped: f64,
}

/// A rate while counting, relative to the following pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TracedPace {
    /// Remaining fraction. 0.1 means a tenth.
    pub ratio: f64,
    /// `None` with too few slices.
    pub interval: Option<Interval>,
}

/// CPU attribution of a trace.
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
    /// Busy time in /proc/stat, in CPUs. `None` if the trace is too short for its 10 ms ticks.
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
    /// The CPU, if the time belongs to one.
    pub cpu: Option<u32>,
    pub time: Nanos,
    /// `time` in CPUs. 0.5 means half a CPU all the time.
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
    /// CPUs in A.
    pub a: f64,
    /// CPUs in B.
    pub b: f64,
    /// Ratio of the CPU times, B/A. `None` if A had none.
    pub ratio: Option<f64>,
}

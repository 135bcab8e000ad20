//! Traces of existing processes. A trace is a single sample, so there are no intervals.

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

/// A trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceSummary {
    /// Traced target.
    pub target: TraceTarget,
    /// Start time.
    pub started: UnixMillis,
    /// Duration.
    pub elapsed: Nanos,
    /// Why it ended; `None` while running.
    pub ended: Option<TraceEnd>,
    /// CPUs online.
    pub cpus: u32,
    /// System calls by kind and thread, by decreasing total time.
    pub calls: Vec<TracedCall>,
    /// All calls per thread, by decreasing running time.
    pub threads: Vec<TracedCall>,
    /// All calls together; `None` if there were none.
    pub all: Option<TracedCall>,
    /// Calls started during the trace and still running, with their time so far; not included elsewhere. Their count is the
    /// number of threads in them.
    #[serde(default)]
    pub under_way: Vec<SyscallCount>,
    /// Overhead of counting calls with ptrace; `None` if it was not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptrace: Option<PtraceCost>,
    /// CPU attribution; `None` if not recorded.
    pub cpu: Option<TracedCpu>,
    /// Devices with traffic.
    pub devices: Vec<DeviceCounters>,
    /// The machine's backlog queues.
    pub softnet: Option<SoftnetCounters>,
    /// Events that could not be counted.
    pub overflowed: Vec<Overflow>,
    /// Probes that were not available.
    pub missing: Vec<MissingProbe>,
}

/// A group of calls.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedCall {
    /// Count and time; if there are several kinds, `call` is the one with the most time.
    pub count: SyscallCount,
    /// Number of threads.
    pub threads: u32,
    /// Calls per second of the trace.
    pub rate: f64,
    /// Share of all threads' time in system calls, 0 to 1; `None` if not timed.
    pub share: Option<f64>,
    /// Mean time per call.
    pub per_call: Option<Nanos>,
    /// 99 of 100 calls took less; a power of two. `None` if not timed.
    pub p99_below: Option<Nanos>,
}

/// Overhead of counting system calls by stopping the process (ptrace), in slices with pauses between them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PtraceCost {
    /// Total time of counting; rates and counts refer to this time.
    pub counted: Nanos,
    /// Slices followed by a complete pause.
    pub pairs: u32,
    /// Reads and writes per second while counting, relative to the following pause. `None` with too few of them or without a
    /// pause.
    pub pace: Option<TracedPace>,
    /// CPU time per second while counting, relative to the following pause.
    pub cpu: Option<TracedPace>,
    /// Minimum number of stopped threads on average while counting: 2 means two threads all the time.
    pub stopped: f64,
}

/// A rate while counting, relative to the following pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TracedPace {
    /// Remaining share: 0.1 is a tenth.
    pub ratio: f64,
    /// Its interval; `None` with too few slices.
    pub interval: Option<Interval>,
}

/// CPU attribution of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedCpu {
    /// Method of attribution.
    pub source: AttributionSource,
    /// Why no better method was available, if known.
    pub reason: Option<String>,
    /// By owner, largest first.
    pub shares: Vec<TracedShare>,
    /// Sum over the owners, in CPUs.
    pub explained: f64,
    /// Busy time in /proc/stat, in CPUs; `None` for traces too short for its 10 ms ticks.
    pub busy: Option<f64>,
    /// Steal time, in CPUs.
    pub steal: f64,
}

/// CPU time of one owner.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedShare {
    pub consumer: CpuConsumer,
    /// Process name, if relevant.
    pub process: Option<String>,
    /// Thread name, if relevant.
    pub thread: Option<String>,
    /// CPU, for time that belongs to one.
    pub cpu: Option<u32>,
    pub time: Nanos,
    /// The same in CPUs: 0.5 is half a CPU all the time.
    pub cpus: f64,
}

/// Trace B relative to trace A, the reference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceComparison {
    /// [`TRACE_COMPARISON_SCHEMA`] at the time of writing.
    pub schema: u32,
    /// The reference.
    pub a: TraceSummary,
    /// The trace compared with it.
    pub b: TraceSummary,
    /// Differences between the environments, most significant first.
    pub environment_changes: Vec<EnvironmentChange>,
    /// Calls of either trace by kind, by decreasing total time.
    pub calls: Vec<CallComparison>,
    /// CPU time of either trace by owner.
    pub consumers: Vec<ConsumerComparison>,
}

/// One kind of call in both traces.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallComparison {
    pub call: String,
    /// In A; `None` if there was none.
    pub a: Option<TracedCall>,
    pub b: Option<TracedCall>,
    /// Calls per second, B/A.
    pub rate_ratio: Option<f64>,
    /// Time per call, B/A.
    pub per_call_ratio: Option<f64>,
    /// Running time per second, B/A.
    pub running_ratio: Option<f64>,
}

/// One owner in both traces.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerComparison {
    pub consumer: CpuConsumer,
    /// CPUs in A.
    pub a: f64,
    /// CPUs in B.
    pub b: f64,
    /// B/A; `None` if A had none.
    pub ratio: Option<f64>,
}

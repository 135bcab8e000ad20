//! What a trace says of something that ran anyway, and what one trace says against another. One trace is one sample:
//! nothing here has an interval.

use samples::{
    AttributionSource, CpuOwner, DeviceCounters, MissingProbe, Overflow, SoftnetCounters, SyscallCount,
    TraceEnd, TraceTarget, UnixMillis,
};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;

use crate::{comparison::SurroundingChange, estimate::Interval};

/// The version of [`TraceComparison`]'s shape. A reader refuses another one.
pub const TRACE_CONTRAST_SCHEMA: u32 = 1;

/// What one trace says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceSummary {
    /// What was traced.
    pub target: TraceTarget,
    /// When it began.
    pub started: UnixMillis,
    /// How long it lasted.
    pub elapsed: Nanos,
    /// Why it ended; `None` while it goes on.
    pub ended: Option<TraceEnd>,
    /// CPUs online.
    pub cpus: u32,
    /// System calls by kind and by whom, those with most time first.
    pub calls: Vec<TracedCall>,
    /// All the calls of each thread that made any, those with most time running first.
    pub threads: Vec<TracedCall>,
    /// All of them together; `None` when none was counted.
    pub all: Option<TracedCall>,
    /// Calls that had begun since the beginning and not ended, with their time so far: in no other number. Their calls are how
    /// many threads are in them.
    #[serde(default)]
    pub under_way: Vec<SyscallCount>,
    /// What it took to count calls by stopping at each; `None` where nothing was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<PtraceCost>,
    /// CPU time by owner; `None` when that was not watched.
    pub cpu: Option<TracedCpu>,
    /// Devices that counted something.
    pub devices: Vec<DeviceCounters>,
    /// The machine's backlog queues.
    pub softnet: Option<SoftnetCounters>,
    /// What could not be counted.
    pub overflowed: Vec<Overflow>,
    /// Probes that could not look.
    pub missing: Vec<MissingProbe>,
}

/// Calls that were counted together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedCall {
    /// What was counted; of several kinds, `call` is the one that took most time.
    pub count: SyscallCount,
    /// Threads that made them.
    pub threads: u32,
    /// Calls a second, over the time of the trace.
    pub rate: f64,
    /// Of the time that all threads spent in system calls, 0 to 1; `None` when it was not taken.
    pub share: Option<f64>,
    /// Mean time of a call.
    pub per_call: Option<Nanos>,
    /// 99 of 100 calls took less; a power of two. `None` when it was not taken.
    pub p99_below: Option<Nanos>,
}

/// System calls that were counted by stopping whoever made them: in slices, with rests between.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PtraceCost {
    /// How long calls were counted: rates and counts are of this time only.
    pub looked: Nanos,
    /// Slices that have a whole rest after them.
    pub pairs: u32,
    /// How far it got while calls were counted, against the rest after it: reads and writes a second. `None` where it made too
    /// few of them, or there was no rest.
    pub pace: Option<TracedPace>,
    /// CPU time a second while calls were counted, against the rest after it.
    pub cpu: Option<TracedPace>,
    /// Of the time in which calls were counted, its threads stood still for so much at least: 2 is two threads all the time.
    pub stood: f64,
}

/// Something while calls were counted, against the rest after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TracedPace {
    /// How much of it was left: 0.1 is a tenth.
    pub ratio: f64,
    /// Its interval; `None` when there are too few slices for one.
    pub interval: Option<Interval>,
}

/// CPU time by owner.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedCpu {
    /// How it was told apart.
    pub source: AttributionSource,
    /// Why no better, where it is known.
    pub because: Option<String>,
    /// Who had it, the largest first.
    pub shares: Vec<TracedShare>,
    /// All that owners had, in CPUs.
    pub explained: f64,
    /// All that /proc/stat counted as busy, in CPUs; `None` of a trace that is short for its ticks of 10 ms.
    pub busy: Option<f64>,
    /// Taken by the hypervisor, in CPUs.
    pub steal: f64,
}

/// One owner's CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TracedShare {
    /// Whose.
    pub owner: CpuOwner,
    /// The process, where it matters.
    pub process: Option<String>,
    /// The thread, where it matters.
    pub thread: Option<String>,
    /// Where, of what belongs to a CPU.
    pub cpu: Option<u32>,
    /// How much.
    pub time: Nanos,
    /// The same in CPUs: 0.5 is half of one, all the time.
    pub cpus: f64,
}

/// One trace against another: A is the reference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceComparison {
    /// [`TRACE_CONTRAST_SCHEMA`] when it was written.
    pub schema: u32,
    /// The reference.
    pub a: TraceSummary,
    /// What is compared with it.
    pub b: TraceSummary,
    /// Where their environments differ, the weightiest first.
    pub surroundings: Vec<SurroundingChange>,
    /// Calls of either, by kind alone; the longest of both first.
    pub calls: Vec<CallComparison>,
    /// CPU time of either by owner alone.
    pub owners: Vec<OwnerComparison>,
}

/// One kind of call in both traces.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallComparison {
    pub call: String,
    /// In A; `None` when there was none.
    pub a: Option<TracedCall>,
    pub b: Option<TracedCall>,
    /// Calls a second, B over A.
    pub rate_ratio: Option<f64>,
    /// Time of a call, B over A.
    pub per_call_ratio: Option<f64>,
    /// Time running a second, B over A.
    pub running_ratio: Option<f64>,
}

/// One owner in both traces.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OwnerComparison {
    /// Whose.
    pub owner: CpuOwner,
    /// CPUs in A.
    pub a: f64,
    /// CPUs in B.
    pub b: f64,
    /// B over A; `None` when A had none.
    pub ratio: Option<f64>,
}

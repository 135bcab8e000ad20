//! Probe data and probe cost. No other numbers come from probed trials.

use samples::{AttributionSource, CpuConsumer, HopPoint, MissingProbe, Overflow, ProbeKind, SyscallCount};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;
use workload::{Metric, Work};

use crate::{distribution::Distribution, estimate::Interval};

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunProbes {
    /// Probes used in probed trials.
    pub used: Vec<ProbeKind>,
    /// Requested probes that were not available.
    pub missing: Vec<MissingProbe>,
    /// Probes that failed during the run.
    pub failed: Vec<FailedProbe>,
    /// Cost per workload with probed and unprobed trials in the same blocks.
    pub costs: Vec<ProbeCost>,
}

/// A probe that failed during the run, so that some trials lack it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedProbe {
    pub probe: ProbeKind,
    /// First error.
    pub reason: String,
    /// Index of the first trial without it.
    pub first_trial: u32,
    /// Probed trials without it.
    pub trials: u32,
    /// Later probed trials with it, e.g. after resuming the run.
    pub later_trials: u32,
}

/// Cost of all probes together for a workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeCost {
    pub workload: String,
    pub metric: Metric,
    /// Pairs of probed and unprobed trials in the same block, over all results.
    pub pairs: u32,
    /// With probes relative to without.
    pub ratio: f64,
    /// Slowdown of probed trials: share of the rate lost, or of the time added. Negative if they were faster.
    pub cost: f64,
    pub interval: Option<Interval>,
    /// CPU time per byte, message or connection; `None` if not recorded.
    pub cpu: Option<CpuProbeCost>,
}

/// CPU cost of probes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CpuProbeCost {
    /// Added share.
    pub cost: f64,
    pub interval: Option<Interval>,
}

/// Probe data of a result, over whole trials including connection setup and warm-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProbedSummary {
    /// Number of probed trials.
    pub trials: u32,
    /// CPU attribution.
    pub cpu: Option<CpuAttribution>,
    /// System calls per unit of work.
    pub calls: Option<CallRates>,
    /// Calls still running when the probes were read, with their time so far; not included elsewhere. One row per group of
    /// equal threads over all trials.
    pub under_way: Vec<SyscallCount>,
    /// Latency breakdown.
    pub latency_breakdown: Option<LatencyBreakdown>,
    /// Events lost for lack of space, over all trials.
    pub overflowed: Vec<Overflow>,
}

/// CPU attribution over all probed trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CpuAttribution {
    /// Method of attribution.
    pub source: AttributionSource,
    /// Why no better method was available, if known.
    pub reason: Option<String>,
    /// CPUs of the machine.
    pub cpus: u32,
    /// CPUs busy on average, according to the kernel.
    pub busy: f64,
    /// Sum over the owners, in CPUs.
    pub attributed: f64,
    /// Busy CPUs without an owner; negative if owners have more than the kernel counted.
    pub unexplained: f64,
    /// The same as a share of busy.
    pub unexplained_share: f64,
    /// Steal time, in CPUs.
    pub steal: f64,
    /// Unit of work for costs; `None` without work or with several kinds of work.
    pub work: Option<Work>,
    /// CPU-seconds of `busy` per unit of work.
    pub busy_cost: Option<f64>,
    /// By owner, in the order of [`CpuConsumer`].
    pub consumers: Vec<ConsumerTime>,
    /// Split into VMs and hypervisor; `None` if neither end is in a virtual machine.
    pub machines: Option<MachineTimes>,
    /// CPU time counted by the guests' kernels in the same trials, client first.
    pub guests: Vec<GuestTime>,
}

/// CPUs busy on average in virtual machines and their hypervisor, without plumb, other processes and ends outside of virtual
/// machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct MachineTimes {
    /// vCPU threads of the server's VM; `None` if it has none.
    pub server: Option<f64>,
    /// Other VMM threads, vhost workers, interrupts and kernel threads of the host.
    pub hypervisor: f64,
    /// vCPU threads of the client's VM; `None` if it has none.
    pub client: Option<f64>,
}

/// CPU time of a guest according to its own kernel, without work of the host for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GuestTime {
    /// `client` or `server`.
    pub end: String,
    pub cpus: u32,
    /// Busy on average.
    pub busy: f64,
    /// In soft and hardware interrupts.
    pub interrupts: f64,
    /// Steal time known to the guest, in CPUs.
    pub steal: f64,
}

/// CPU time of one owner.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerTime {
    pub consumer: CpuConsumer,
    pub cpus: f64,
    /// Share of busy, 0 to 1.
    pub share: f64,
    /// CPU-seconds per unit of work.
    pub cost: Option<f64>,
    /// By process, thread or CPU, largest first.
    pub parts: Vec<ConsumerPart>,
}

/// CPU time of a process, thread or CPU of an owner.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerPart {
    /// Process name, if relevant.
    pub process: Option<String>,
    /// Thread name, if relevant.
    pub thread: Option<String>,
    /// CPU, for time that belongs to one.
    pub cpu: Option<u32>,
    pub cpus: f64,
}

/// System calls per unit of work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallRates {
    /// Unit: megabytes, messages or connections.
    pub work: Work,
    /// Units of work in all probed trials.
    pub carried: f64,
    /// Calls per unit, in the order of the result's system calls.
    pub each: Vec<f64>,
    /// Calls per unit, by end.
    pub ends: Vec<EndCalls>,
    /// Calls per unit in total.
    pub all: f64,
    /// Calls by end and process, all threads together, most frequent first.
    pub processes: Vec<ProcessCalls>,
}

/// One kind of call of one process over all its threads.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessCalls {
    /// Count and time; names the thread if there is only one.
    pub count: SyscallCount,
    /// Number of threads, by name.
    pub threads: u32,
    /// Share of the calls of that end, 0 to 1.
    pub share: f64,
    /// Calls per megabyte, message or connection.
    pub rate: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EndCalls {
    /// `client`, `server` or the hypervisor; `None` if unknown.
    pub end: Option<String>,
    /// Process, if there is only one.
    pub process: Option<String>,
    pub calls: u64,
    /// Calls per megabyte, message or connection.
    pub rate: f64,
}

/// Latency breakdown along the most frequent path, merged over all trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencyBreakdown {
    /// One in this many messages was followed.
    pub every: u32,
    /// Round trips followed to the end.
    pub followed: u64,
    /// Round trips that took another path or could not be followed; not included in the steps.
    pub not_followed: u64,
    /// From the client's send to the reply, measured by the probe.
    pub round_trip: Distribution,
    /// Median round trip of the same trials, measured by the engine.
    pub engine: Option<Nanos>,
    /// Sum of the median steps.
    pub sum: Nanos,
    /// Difference between the engine's median and the sum, as a share of the median (or of the probe's round trip if the
    /// engine measured none); negative if the sum is larger.
    pub unexplained: f64,
    /// The same within single trials, median over the trials. Medians over differing trials do not add up.
    pub unexplained_in_trial: f64,
    /// In order.
    pub steps: Vec<StepSummary>,
}

/// A step between two points of the path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepSummary {
    /// Start.
    pub from: HopPoint,
    /// End.
    pub to: HopPoint,
    /// Part of the round trip.
    pub leg: Leg,
    /// Kind of work.
    pub kind: StepKind,
    /// Description, e.g. `VXLAN encapsulation`, `server wake-up`.
    pub label: String,
    /// Median.
    pub p50: Nanos,
    /// 99th percentile.
    pub p99: Nanos,
    /// Median as a share of the round trip, 0 to 1.
    pub share: f64,
    /// Start within a round trip of median steps, 0 to 1.
    pub start: f64,
    /// Share of each trial's round trip.
    pub by_trial: Vec<f64>,
}

/// A part of a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Leg {
    /// From the client to the server.
    There,
    /// Within the server.
    Server,
    /// From the server to the client.
    Back,
}

/// Kind of work in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Send system call: socket, protocol, routing.
    Send,
    /// Queueing discipline.
    Queue,
    /// From a device to its peer or over a wire, including the receiver's softirq.
    Crossing,
    /// Tunnel encapsulation.
    Encapsulation,
    /// Tunnel decapsulation.
    Decapsulation,
    /// Bridge.
    Bridge,
    /// Routing by a host, including address translation.
    Forwarding,
    /// From the stack to the socket, until the waiting thread runs.
    Wakeup,
    /// The server's program.
    Program,
    /// Not classified.
    Other,
}

//! Probe data and the cost of probes. All other numbers exclude probed trials.

use samples::{AttributionSource, CpuConsumer, HopPoint, MissingProbe, Overflow, ProbeKind, SyscallCount};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;
use workload::{Metric, Work};

use crate::{distribution::Distribution, estimate::Interval};

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunProbes {
    /// Probes in the probed trials.
    pub used: Vec<ProbeKind>,
    /// Requested probes that were unavailable.
    pub missing: Vec<MissingProbe>,
    /// Probes that failed during the run.
    pub failed: Vec<FailedProbe>,
    /// One per workload with probed and unprobed trials in the same blocks.
    pub costs: Vec<ProbeCost>,
}

/// A probe that failed during the run, so that some trials lack it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedProbe {
    pub probe: ProbeKind,
    pub reason: String,
    /// Index of the first trial without the probe.
    pub first_trial: u32,
    /// Probed trials without the probe.
    pub trials: u32,
    /// Later probed trials that have the probe again, e.g. after the run was resumed.
    pub later_trials: u32,
}

/// Combined cost of all probes for one workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeCost {
    pub workload: String,
    pub metric: Metric,
    /// Pairs of a probed and an unprobed trial in the same block, across all results.
    pub pairs: u32,
    /// Probed trials relative to unprobed ones.
    pub ratio: f64,
    /// Slowdown of probed trials: the fraction by which their rate was lower or their time longer. Negative if probed
    /// trials were faster.
    pub cost: f64,
    pub interval: Option<Interval>,
    /// CPU time per byte, message or connection. `None` if it was not recorded.
    pub cpu: Option<CpuProbeCost>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CpuProbeCost {
    /// CPU time added by the probes, as a fraction of that without probes.
    pub cost: f64,
    pub interval: Option<Interval>,
}

/// Probe data from entire trials of a result, including connection setup and warm-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProbedSummary {
    pub trials: u32,
    pub cpu: Option<CpuAttribution>,
    pub calls: Option<CallRates>,
    /// Calls that were still running when the probes were read, with their time so far. Other fields exclude these
    /// calls. Each row merges threads with the same name across all trials.
    pub under_way: Vec<SyscallCount>,
    pub latency_breakdown: Option<LatencyBreakdown>,
    /// Events lost in any trial because a buffer was full.
    pub overflowed: Vec<Overflow>,
}

/// CPU attribution over all probed trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CpuAttribution {
    /// How CPU time was attributed.
    pub source: AttributionSource,
    /// Why a better method was unavailable, if known.
    pub reason: Option<String>,
    pub cpus: u32,
    /// Average number of busy CPUs, according to the kernel.
    pub busy: f64,
    /// Sum over the owners, in CPUs.
    pub attributed: f64,
    /// Busy CPUs without an owner. Negative if the owners add up to more than the kernel counted.
    pub unexplained: f64,
    /// `unexplained` as a fraction of `busy`.
    pub unexplained_share: f64,
    /// Steal time, in CPUs.
    pub steal: f64,
    /// Unit of work for costs. `None` if there was no work, or if there were several kinds of work.
    pub work: Option<Work>,
    /// CPU-seconds of `busy` per unit of work.
    pub busy_cost: Option<f64>,
    /// CPU time by owner, in the order of [`CpuConsumer`].
    pub consumers: Vec<ConsumerTime>,
    /// CPU time of each virtual machine and of the hypervisor. `None` if neither end is in a virtual machine.
    pub machines: Option<MachineTimes>,
    /// CPU time according to the guests' kernels in the same trials, client first.
    pub guests: Vec<GuestTime>,
}

/// Average number of CPUs busy with virtual machines and their hypervisor. Excludes plumb, other processes, and
/// ends outside virtual machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct MachineTimes {
    /// vCPU threads of the server's VM. `None` if the server is not in a VM.
    pub server: Option<f64>,
    /// Other VMM threads, vhost workers, interrupts and kernel threads of the host.
    pub hypervisor: f64,
    /// vCPU threads of the client's VM. `None` if the client is not in a VM.
    pub client: Option<f64>,
}

/// A guest's CPU time according to its own kernel. Excludes the host's work for the guest.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GuestTime {
    /// `client` or `server`.
    pub end: String,
    pub cpus: u32,
    /// Average number of busy CPUs.
    pub busy: f64,
    /// CPUs busy with soft and hardware interrupts.
    pub interrupts: f64,
    /// Steal time, in CPUs.
    pub steal: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerTime {
    pub consumer: CpuConsumer,
    pub cpus: f64,
    /// Fraction of `busy`, from 0 to 1.
    pub share: f64,
    /// CPU-seconds per unit of work.
    pub cost: Option<f64>,
    /// CPU time by process, thread or CPU, largest first.
    pub parts: Vec<ConsumerPart>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConsumerPart {
    /// Process name, if relevant.
    pub process: Option<String>,
    /// Thread name, if relevant.
    pub thread: Option<String>,
    /// The CPU, if the time belongs to a single CPU.
    pub cpu: Option<u32>,
    pub cpus: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallRates {
    /// Unit of work: megabytes, messages or connections.
    pub work: Work,
    /// Units of work in all probed trials.
    pub carried: f64,
    /// Calls per unit, in the order of the result's system calls.
    pub each: Vec<f64>,
    pub ends: Vec<EndCalls>,
    pub all: f64,
    /// Calls by end and process, summed over threads, most frequent first.
    pub processes: Vec<ProcessCalls>,
}

/// One kind of call by one process, summed over its threads.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessCalls {
    /// Includes a thread name if all calls are from threads with that name.
    pub count: SyscallCount,
    /// Number of distinct thread names.
    pub threads: u32,
    /// Fraction of all calls at that end, from 0 to 1.
    pub share: f64,
    pub rate: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EndCalls {
    /// `client`, `server` or the hypervisor. `None` if unknown.
    pub end: Option<String>,
    /// The process, if there is only one.
    pub process: Option<String>,
    pub calls: u64,
    /// Calls per megabyte, message or connection.
    pub rate: f64,
}

/// Latency breakdown along the most frequent path, over all trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencyBreakdown {
    /// One in this many messages was traced.
    pub every: u32,
    /// Completely traced round trips.
    pub followed: u64,
    /// Round trips that took another path or could not be traced. The steps exclude these round trips.
    pub not_followed: u64,
    /// From the client's send to the reply, measured by the probe.
    pub round_trip: Distribution,
    /// The engine's median round trip in the same trials.
    pub engine: Option<Nanos>,
    /// Sum of the steps' medians.
    pub sum: Nanos,
    /// Difference between the engine's median and the sum, as a fraction of the median. If the engine has no median,
    /// the probe's median round trip is used instead. Negative if the sum is larger.
    pub unexplained: f64,
    /// Median of the trials' own `unexplained`. If trials differ, medians over all of them do not add up.
    pub unexplained_in_trial: f64,
    /// Steps in order.
    pub steps: Vec<StepSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepSummary {
    pub from: HopPoint,
    pub to: HopPoint,
    pub leg: Leg,
    pub kind: StepKind,
    /// Description, e.g. `VXLAN encapsulation`, `server wake-up`.
    pub label: String,
    /// Median time.
    pub p50: Nanos,
    pub p99: Nanos,
    /// Median as a fraction of the round trip, from 0 to 1.
    pub share: f64,
    /// Sum of the earlier steps' medians, as a fraction of the round trip.
    pub start: f64,
    /// Fraction of the round trip in each trial.
    pub by_trial: Vec<f64>,
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Send system call: socket, protocol, routing.
    Send,
    /// Queueing discipline.
    Queue,
    /// From a device to its peer or over the wire, including the receiver's softirq.
    Crossing,
    Encapsulation,
    Decapsulation,
    Bridge,
    /// Routing, including address translation.
    Forwarding,
    /// Delivery from the network stack to the socket, until the waiting thread runs.
    Wakeup,
    /// The server program.
    Program,
    /// Anything else.
    Other,
}

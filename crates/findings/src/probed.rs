//! What probes saw of a cell, and what they cost the run. No number of a cell but these comes from a probed trial.

use samples::{AttributionSource, CpuOwner, HopPoint, MissingProbe, Overflow, ProbeKind, SyscallCount};
use schemars::JsonSchema;
use serde::Serialize;
use units::Nanos;
use workload::{Metric, Work};

use crate::{distribution::Distribution, estimate::Interval};

#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RunProbes {
    /// Those that watched its probed trials.
    pub ran: Vec<ProbeKind>,
    /// Those that were asked for and could not run.
    pub missing: Vec<MissingProbe>,
    /// Those that ran and failed on the way.
    pub lost: Vec<LostProbe>,
    /// What they cost, one for each workload that has trials with and without them in the same blocks.
    pub costs: Vec<ProbeCost>,
}

/// A probe that failed on the way: some trials were watched without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LostProbe {
    pub probe: ProbeKind,
    /// Why, the first time.
    pub because: String,
    /// The place in the plan of the first trial that lacks it, from 0.
    pub from: u32,
    /// Watched trials that lack it.
    pub trials: u32,
    /// Watched trials after that one that have it: a run that was resumed may have it again.
    pub again: u32,
}

/// What all probes of a run together cost a workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProbeCost {
    pub workload: String,
    /// What it is measured in.
    pub metric: Metric,
    /// Pairs of trials, one with and one without probes in the same block, of all its cells.
    pub pairs: u32,
    /// With probes over without.
    pub ratio: f64,
    /// By how much probed trials are worse: the share of the rate that is lost, or of the time that is added. Negative
    /// where they were better.
    pub cost: f64,
    pub interval: Option<Interval>,
    /// The same of the CPU time that was spent for each byte, message or connection; `None` where nobody recorded it.
    pub cpu: Option<CpuProbeCost>,
}

/// What probes cost in CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct CpuProbeCost {
    /// The share that is added.
    pub cost: f64,
    pub interval: Option<Interval>,
}

/// What probes saw of a cell. Everything is of whole trials, the warm-up and the connecting included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProbedSummary {
    /// Trials that they watched.
    pub trials: u32,
    /// CPU time by its owner.
    pub cpu: Option<CpuAttribution>,
    /// How often system calls were made for what was carried.
    pub calls: Option<CallRates>,
    /// Calls that had begun and not ended when the probes were read, with their time so far: in no other number. Calls of
    /// equal threads of all trials are one row; its calls are how many they were.
    pub under_way: Vec<SyscallCount>,
    /// The way of its messages.
    pub way: Option<LatencyBreakdown>,
    /// Events that a probe had no room to count, of all trials.
    pub overflowed: Vec<Overflow>,
}

/// CPU time of the machine by owner: the time of all probed trials over their length, so that owners add up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CpuAttribution {
    /// How it was told apart.
    pub source: AttributionSource,
    /// Why no better, where it is known.
    pub because: Option<String>,
    /// CPUs of the machine.
    pub cpus: u32,
    /// CPUs busy on average, as the kernel itself counted.
    pub busy: f64,
    /// What the owners add up to, in CPUs.
    pub owned: f64,
    /// CPUs busy that no owner explains; negative where owners had more than the kernel counted.
    pub unexplained: f64,
    /// That, as a share of busy.
    pub unexplained_share: f64,
    /// CPUs stolen by the hypervisor.
    pub steal: f64,
    /// What its costs are for; `None` where nothing was carried, or more than one kind of thing.
    pub work: Option<Work>,
    /// CPU-seconds of `busy` for a unit of that work.
    pub busy_cost: Option<f64>,
    /// Who had it, in the order of [`CpuOwner`].
    pub owners: Vec<OwnerTime>,
    /// The same in three parts; `None` where neither end is in a virtual machine.
    pub machines: Option<MachineTimes>,
    /// What the kernels of guests counted of their own CPUs in the same trials, the client's first.
    pub guests: Vec<GuestTime>,
}

/// CPUs busy on average in virtual machines and in what carries them. Plumb, other processes and an end that is in none
/// have no part in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct MachineTimes {
    /// The vCPU threads of the server's; `None` where it is in none.
    pub server: Option<f64>,
    /// The monitors' other threads, vhost workers, interrupts and threads of the host's kernel.
    pub hypervisor: f64,
    /// The vCPU threads of the client's; `None` where it is in none.
    pub client: Option<f64>,
}

/// CPU time of a guest by its own kernel's count: what its host takes from it, or does for it, is not in it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GuestTime {
    /// Which end: `client` or `server`.
    pub end: String,
    pub cpus: u32,
    /// Of these, busy on average.
    pub busy: f64,
    /// Of that, in soft and hardware interrupts.
    pub interrupts: f64,
    /// CPUs that it knows its host to have taken.
    pub steal: f64,
}

/// What one owner had.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OwnerTime {
    pub owner: CpuOwner,
    pub cpus: f64,
    /// As a share of busy, 0 to 1.
    pub share: f64,
    /// CPU-seconds for a unit of the work.
    pub cost: Option<f64>,
    /// Its parts, the largest first.
    pub parts: Vec<OwnerPart>,
}

/// A process, thread or CPU of an owner.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OwnerPart {
    /// The process, where it matters.
    pub process: Option<String>,
    /// The thread, where it matters.
    pub thread: Option<String>,
    /// Where, of what belongs to a CPU.
    pub cpu: Option<u32>,
    pub cpus: f64,
}

/// How often system calls were made for what was carried meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CallRates {
    /// What is counted: megabytes, messages or connections.
    pub work: Work,
    /// How many of these all probed trials carried.
    pub carried: f64,
    /// Calls for each, in the order of the cell's system calls.
    pub each: Vec<f64>,
    /// The same of all calls of an end.
    pub ends: Vec<EndCalls>,
    /// The same of all calls together.
    pub all: f64,
    /// What each end's processes call, all their threads together: by end, the most frequent first.
    pub processes: Vec<ProcessCalls>,
}

/// One kind of call of one process, whichever of its threads made it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessCalls {
    /// How often and how long; with the thread where only one made it.
    pub count: SyscallCount,
    /// How many of its threads, by their names.
    pub threads: u32,
    /// Of the calls of its end, 0 to 1.
    pub share: f64,
    /// For each megabyte, message or connection.
    pub rate: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EndCalls {
    /// `client`, `server`, or what carries them; `None` where it is not known.
    pub end: Option<String>,
    /// The process, where all of them are one's.
    pub process: Option<String>,
    /// How many.
    pub calls: u64,
    /// For each megabyte, message or connection.
    pub rate: f64,
}

/// The way of a cell's messages through the layers: the one that most took, equal steps of all trials merged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencyBreakdown {
    /// Every so many-th message was followed.
    pub every: u32,
    /// Round trips that were followed to their end.
    pub followed: u64,
    /// Round trips that took another way or were lost from sight: in no step.
    pub strayed: u64,
    /// From the client's send to its return with the answer, as the probe saw it.
    pub whole: Distribution,
    /// The median round trip of the same trials, as the engine measured it.
    pub engine: Option<Nanos>,
    /// The medians of all steps, added up.
    pub sum: Nanos,
    /// What the sum lacks of the engine's median, as a share of that; negative where the sum is more. Against the whole
    /// where the engine's is not known.
    pub unexplained: f64,
    /// The same within single trials, the median over them: where trials differ, medians of all together do not add up.
    pub unexplained_in_trial: f64,
    /// The steps, in order.
    pub steps: Vec<StepSummary>,
}

/// From one point of the way to the next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepSummary {
    /// Where it begins.
    pub from: HopPoint,
    /// Where it ends.
    pub to: HopPoint,
    /// On which part of the round trip.
    pub leg: Leg,
    /// What happens in it.
    pub kind: StepKind,
    /// The same in words: `VXLAN encapsulation`, `wake-up of the server`.
    pub what: String,
    /// Its median.
    pub p50: Nanos,
    /// What 99 % of the messages did not exceed.
    pub p99: Nanos,
    /// Its median as a share of the round trip, 0 to 1.
    pub share: f64,
    /// Where it begins in a round trip whose steps all take their median, 0 to 1.
    pub begins: f64,
    /// The share of its trial's round trip that it took, trial by trial.
    pub by_trial: Vec<f64>,
}

/// A part of a round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Leg {
    /// From the client to the server.
    There,
    /// Through the server.
    Server,
    /// From the server to the client.
    Back,
}

/// What happens in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// A system call sends: socket, protocol, routing.
    Send,
    /// A queueing discipline holds the packet.
    Queue,
    /// From one device to the other one of its pair, or over a wire: the receiver's soft interrupt included.
    Crossing,
    /// A tunnel wraps the packet.
    Encapsulation,
    /// A tunnel unwraps it.
    Decapsulation,
    /// A bridge passes it on.
    Bridge,
    /// A host routes it, and translates its address where it has rules for it.
    Forwarding,
    /// The stack takes it to the socket, and the thread that waits there wakes up.
    Wakeup,
    /// The program at the server.
    Program,
    /// Nothing that is known by a name.
    Other,
}

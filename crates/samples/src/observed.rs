//! What probes saw beside a trial. Must not know how they look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::{PingPongSettings, WorkloadSettings};

use crate::{cpu_attribution::OwnedCpu, latency_breakdown::MessagePath, syscalls::SyscallCount};

/// Something that watches a trial from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// CPU time by its owner, to the nanosecond.
    Cpu,
    /// System calls, their time split into running, waiting and guest.
    Syscalls,
    /// The time of messages between the layers of their path (closed-loop ping-pongs).
    PacketWay,
}

impl ProbeKind {
    /// Every probe, in the order in which they are told.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Syscalls, Self::PacketWay];

    /// As it is written in scenarios and on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Syscalls => "syscalls",
            Self::PacketWay => "packet-way",
        }
    }

    /// Whether it sees anything of such a load.
    #[must_use]
    pub fn sees(self, load: &WorkloadSettings) -> bool {
        match self {
            Self::Cpu | Self::Syscalls => true,
            Self::PacketWay => PingPongSettings::of(load).is_some_and(PingPongSettings::is_one_at_a_time),
        }
    }
}

/// What probes saw of one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeResults {
    /// Between the two readings of the probes: the whole trial, its warm-up and its connecting included. Nothing where no
    /// probe was left that saw it.
    pub elapsed: Nanos,
    /// CPU time by owner.
    pub cpu: Option<OwnedCpu>,
    /// System calls of the ends and of whatever carries them; those under way at either reading are not counted.
    #[serde(default)]
    pub syscalls: Vec<SyscallCount>,
    /// Calls that had begun since the start and not ended at the reading, one a thread, with their time so far; in no
    /// count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under_way: Vec<SyscallCount>,
    /// What it took to count system calls by stopping at each, where that was done; `None` where nothing was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<PtraceSlices>,
    /// The way of messages through the layers (ping-pongs only).
    pub way: Option<MessagePath>,
    /// Events that a probe saw and had no room to count, by probe; none where nothing is missing.
    #[serde(default)]
    pub overflowed: Vec<Overflow>,
    /// Probes of the run that saw nothing of this trial, having failed in it or before, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<MissingProbe>,
}

/// Events that could not be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overflow {
    /// Which probe's.
    pub probe: ProbeKind,
    /// How many.
    pub events: u64,
}

/// A probe that was asked for and cannot run here, or not any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingProbe {
    pub probe: ProbeKind,
    /// What is missing, and what to do.
    pub because: String,
}

/// System calls that were counted by stopping whoever made them at each (ptrace): in slices, with rests between in which it
/// ran as if nobody looked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PtraceSlices {
    /// How long calls were counted: rates are over this time.
    pub looked: Nanos,
    /// How long its threads stood still for that, at least, all of them together.
    pub stood: Nanos,
    /// Slices and rests in their order, those that were whole.
    pub slices: Vec<PtraceSlice>,
}

/// A time in which calls were counted, or a rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PtraceSlice {
    /// Whether calls were counted.
    pub looking: bool,
    /// How long it lasted.
    pub elapsed: Nanos,
    /// CPU time of what was watched.
    pub cpu: Nanos,
    /// Calls that read or wrote, by its own counters (/proc/PID/io): how far it got, whether anybody looked or not.
    pub moved: u64,
}

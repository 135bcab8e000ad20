//! Data from probes during a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::{PingPongSettings, WorkloadSettings};

use crate::{cpu_attribution::AttributedCpu, latency_breakdown::MessagePath, syscalls::SyscallCount};

/// A probe that observes a trial in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// CPU attribution, with nanosecond resolution.
    Cpu,
    /// System calls, with the time spent running, waiting and in a guest.
    Syscalls,
    /// Latency breakdown of messages (closed-loop ping-pongs).
    PacketWay,
}

impl ProbeKind {
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Syscalls, Self::PacketWay];

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Syscalls => "syscalls",
            Self::PacketWay => "packet-way",
        }
    }

    #[must_use]
    pub fn sees(self, load: &WorkloadSettings) -> bool {
        match self {
            Self::Cpu | Self::Syscalls => true,
            Self::PacketWay => PingPongSettings::of(load).is_some_and(PingPongSettings::is_one_at_a_time),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeResults {
    /// Time between the two readings of the probes: the whole trial, including connecting and the warm-up. Zero if no
    /// probe worked.
    pub elapsed: Nanos,
    pub cpu: Option<AttributedCpu>,
    /// System calls of both ends and of the processes that carry their traffic. Excludes calls in progress at either
    /// reading.
    #[serde(default)]
    pub syscalls: Vec<SyscallCount>,
    /// Calls that started during the trial and were still in progress at its end, with their time until then. At most
    /// one per thread. `syscalls` excludes these calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under_way: Vec<SyscallCount>,
    /// Cost of counting system calls with ptrace; `None` if ptrace was not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptrace: Option<PtraceSlices>,
    /// Latency breakdown (ping-pongs only).
    pub latency_breakdown: Option<MessagePath>,
    /// Number of events lost because a buffer was full, by probe. Empty if the data is complete.
    #[serde(default)]
    pub overflowed: Vec<Overflow>,
    /// Probes of the run that have no data for this trial, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<MissingProbe>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overflow {
    pub probe: ProbeKind,
    pub events: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingProbe {
    pub probe: ProbeKind,
    /// The missing capability, with a hint.
    pub reason: String,
}

/// System calls counted with ptrace, in slices. In the rests between slices, the process runs undisturbed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PtraceSlices {
    /// Total time spent counting. Rates are relative to this time.
    pub counted: Nanos,
    /// Lower bound of the time for which threads were stopped, summed over threads.
    pub stopped: Nanos,
    /// Complete slices and rests, in order.
    pub slices: Vec<PtraceSlice>,
}

/// A slice (with counting) or a rest (without counting).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PtraceSlice {
    pub counting: bool,
    pub elapsed: Nanos,
    pub cpu: Nanos,
    /// Read and write calls according to /proc/PID/io. They show the progress of the process in slices and rests.
    pub io_calls: u64,
}

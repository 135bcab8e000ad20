//! What probes saw beside a trial. Must not know how they look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{owners::OwnedCpu, syscalls::SyscallCount, way::PacketWay};

/// Something that watches a trial from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// CPU time by its owner, to the nanosecond.
    Cpu,
    /// System calls, their time split into running, waiting and guest.
    Syscalls,
    /// The time of messages between the layers of their path.
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
}

/// What probes saw of one trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// Between the two readings of the probes: the whole trial, its warm-up and its connecting included.
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
    /// The way of messages through the layers (ping-pongs only).
    pub way: Option<PacketWay>,
    /// Events that a probe saw and had no room to count, by probe; none where nothing is missing.
    #[serde(default)]
    pub overflowed: Vec<Overflow>,
}

/// Events that could not be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overflow {
    /// Which probe's.
    pub probe: ProbeKind,
    /// How many.
    pub events: u64,
}

/// A probe that was asked for and cannot run here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingProbe {
    /// Which.
    pub probe: ProbeKind,
    /// What is missing, and what to do.
    pub because: String,
}

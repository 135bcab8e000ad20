//! What a run watches its trials with, beside the traffic. Must not know how a probe looks, nor what it sees.

use serde::{Deserialize, Serialize};
use workload::{PingPongSettings, WorkloadSettings};

/// Blocks with probed trials where nobody said how many: enough for an interval, and few beside the others.
const USUAL_BLOCKS: u32 = 7;

/// Something that watches a trial from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKind {
    /// CPU time by its owner.
    Cpu,
    /// System calls and their time.
    Syscalls,
    /// The time of messages between the layers of their path.
    PacketWay,
}

impl ProbeKind {
    /// Every probe.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Syscalls, Self::PacketWay];

    /// As it is written.
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

/// What a scenario is watched with; the default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probes {
    /// The probes, each once, in the order of [`ProbeKind::ALL`].
    pub kinds: Vec<ProbeKind>,
    /// How many blocks, from the first, hold each cell once more with the probes on; `None` where nobody said.
    pub trials: Option<u32>,
}

impl Probes {
    /// How many of so many blocks hold probed trials.
    #[must_use]
    pub fn blocks(&self, of: u32) -> u32 {
        self.trials.unwrap_or(USUAL_BLOCKS).min(of)
    }
}

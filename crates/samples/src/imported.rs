//! What the trials of a cell sent: ordered by plumb, or as far as another tool's log tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes};
use workload::{Direction, Measurement, Transport, WorkloadSettings};

/// What the trials of a cell sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadSource {
    /// What plumb ordered, every default filled in.
    Load(WorkloadSettings),
    /// What a log tells.
    Told(ImportedSettings),
}

impl WorkloadSource {
    /// What plumb ordered; `None` when another tool sent.
    #[must_use]
    pub const fn load(&self) -> Option<&WorkloadSettings> {
        match self {
            Self::Load(load) => Some(load),
            Self::Told(_) => None,
        }
    }

    /// Payload that both ends sent, the warm-up included; nothing when another tool did.
    #[must_use]
    pub fn payload(&self, measured: &Measurement) -> Bytes {
        self.load().map_or(Bytes(0), |load| measured.kind().sent(load))
    }
}

/// What a log tells of what was sent; `None` is what it does not tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedSettings {
    /// Who measured: `iperf3 3.12`, `sockperf`, `a table`.
    pub tool: String,
    /// What kind of load it was.
    pub kind: ImportedKind,
    /// TCP or UDP.
    pub transport: Option<Transport>,
    /// Parallel connections in each direction.
    pub streams: Option<u32>,
    /// Which way payload flowed.
    pub direction: Option<Direction>,
    /// The size of each write or message.
    pub message: Option<Bytes>,
    /// The sender's congestion control.
    pub congestion: Option<String>,
    /// Each connection's rate where one was asked.
    pub rate: Option<BitRate>,
}

impl ImportedSettings {
    /// Settings of which no more is told.
    #[must_use]
    pub fn of(tool: impl Into<String>, kind: ImportedKind) -> Self {
        Self {
            tool: tool.into(),
            kind,
            transport: None,
            streams: None,
            direction: None,
            message: None,
            congestion: None,
            rate: None,
        }
    }
}

/// What kind of load a log tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImportedKind {
    /// Throughput.
    Stream,
    /// Round trips.
    PingPong,
    /// Connections or transactions per second.
    Connect,
    /// Something else: counts of system calls, a table of anything.
    Other,
}

//! The workload of a result, run by plumb or described in another tool's log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes};
use workload::{Direction, Measurement, Transport, WorkloadSettings};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadSource {
    /// Run by plumb, with defaults filled in.
    Load(WorkloadSettings),
    /// Described in a log.
    Imported(ImportedSettings),
}

impl WorkloadSource {
    #[must_use]
    pub const fn load(&self) -> Option<&WorkloadSettings> {
        match self {
            Self::Load(load) => Some(load),
            Self::Imported(_) => None,
        }
    }

    /// Payload sent by both ends, including the warm-up. Zero for an imported workload.
    #[must_use]
    pub fn payload(&self, measured: &Measurement) -> Bytes {
        self.load().map_or(Bytes(0), |load| measured.kind().sent(load))
    }
}

/// A workload as described in a log. Unknown values are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedSettings {
    /// The tool, e.g. `iperf3 3.12`, `sockperf` or `a table`.
    pub tool: String,
    pub kind: ImportedKind,
    pub transport: Option<Transport>,
    pub streams: Option<u32>,
    pub direction: Option<Direction>,
    pub message: Option<Bytes>,
    pub congestion: Option<String>,
    /// The requested rate per connection, if any.
    pub rate: Option<BitRate>,
    /// Further options by name, e.g. `window` with the value `4M`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

impl ImportedSettings {
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
            options: BTreeMap::new(),
        }
    }
}

/// The kind of a workload in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImportedKind {
    /// Throughput.
    Stream,
    /// Round trips.
    PingPong,
    /// Connections or transactions per second.
    Connect,
    /// Anything else, such as system call counts or arbitrary tables.
    Other,
}

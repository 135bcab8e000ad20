//! What a workload does, in the units that costs are told for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const GIB: f64 = (1_u64 << 30) as f64;

/// What CPU time and calls are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Payload received: CPU-seconds for a gigabyte (10^9 bytes), calls for a megabyte (10^6 bytes).
    Bytes,
    /// Messages that came back: CPU-seconds for a million, calls for one.
    Messages,
    /// Connections that were used and closed: CPU-seconds for a million, calls for one.
    Connections,
    /// Memory touched for the first time: CPU-seconds and calls for a GiB.
    Memory,
}

impl Work {
    /// What CPU time is told for: how much, and in words.
    #[must_use]
    pub const fn for_cpu(self) -> (f64, &'static str) {
        match self {
            Self::Bytes => (1e9, "GB"),
            Self::Messages => (1e6, "million round trips"),
            Self::Connections => (1e6, "million connections"),
            Self::Memory => (GIB, "GiB"),
        }
    }

    /// What calls are counted for: how much, and in words.
    #[must_use]
    pub const fn for_calls(self) -> (f64, &'static str) {
        match self {
            Self::Bytes => (1e6, "MB"),
            Self::Messages => (1.0, "message"),
            Self::Connections => (1.0, "connection"),
            Self::Memory => (GIB, "GiB"),
        }
    }
}

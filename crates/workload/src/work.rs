//! The units of work that costs refer to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const GIB: f64 = (1_u64 << 30) as f64;

/// The unit of work for CPU time and system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Payload received: CPU seconds per gigabyte (10^9 bytes), calls per megabyte (10^6 bytes).
    Bytes,
    /// Returned messages: CPU seconds per million, calls per message.
    Messages,
    /// Completed connections: CPU seconds per million, calls per connection.
    Connections,
    /// Memory touched for the first time: CPU seconds and calls per GiB.
    Memory,
}

impl Work {
    #[must_use]
    pub const fn for_cpu(self) -> (f64, &'static str) {
        match self {
            Self::Bytes => (1e9, "GB"),
            Self::Messages => (1e6, "million round trips"),
            Self::Connections => (1e6, "million connections"),
            Self::Memory => (GIB, "GiB"),
        }
    }

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

//! Where the threads of the two ends run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the threads of the two ends run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Where the scheduler puts them.
    Free,
    /// Both ends on one CPU.
    SameCpu,
    /// Each end on CPUs of its own.
    CrossCpu,
    /// Thread n of an end on the CPU number n of its list, from the start again after the last.
    Cpus {
        /// The client's CPUs.
        client: Vec<u32>,
        /// The server's.
        server: Vec<u32>,
    },
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free => f.write_str("free"),
            Self::SameCpu => f.write_str("same-cpu"),
            Self::CrossCpu => f.write_str("cross-cpu"),
            Self::Cpus { client, server } => write!(f, "{} | {}", List(client), List(server)),
        }
    }
}

struct List<'a>(&'a [u32]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, cpu) in self.0.iter().enumerate() {
            write!(f, "{}{cpu}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

//! Where the threads of both ends run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the threads of both ends run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The scheduler decides.
    Free,
    /// Both ends on the same CPU.
    SameCpu,
    /// The ends on different CPUs.
    CrossCpu,
    /// Thread n of each end runs on the CPU in entry n of that end's list. The list repeats if it is too short.
    Cpus { client: Vec<u32>, server: Vec<u32> },
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

//! Telemetry about a machine's memory.

mod damon;
mod guest;
mod mglru;
mod referenced;

use std::collections::BTreeMap;

use protocol::{AccessClass, AccessSourceKind};
use units::Nanos;

pub use guest::GuestTelemetry;
pub use referenced::ReferencedBits;

use crate::error::MemoryError;

pub type Accesses = BTreeMap<u32, Vec<AccessClass>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    Accesses(Accesses),
    Pending(&'static str),
}

const FIRST_LOOK: &str = "the first reading only starts the count";

pub trait AccessSource: Send {
    fn kind(&self) -> AccessSourceKind;

    /// Returns the accesses since the previous call. The first call, and the first call after memory is added or
    /// removed, return a pending result.
    fn look(&mut self) -> Result<Look, MemoryError>;

    fn cost(&self) -> Nanos {
        Nanos(0)
    }
}

fn source(asked: AccessSourceKind) -> Result<Box<dyn AccessSource>, MemoryError> {
    use AccessSourceKind as Kind;
    match asked {
        Kind::Damon => Ok(Box::new(damon::Damon::start()?)),
        Kind::Mglru => Ok(Box::new(mglru::Generations::start(true)?)),
        Kind::Auto => match damon::Damon::start() {
            Ok(damon) => Ok(Box::new(damon)),
            Err(no_damon) => match mglru::Generations::start(false) {
                Ok(generations) => Ok(Box::new(generations)),
                Err(nor) => {
                    Err(MemoryError::NoSource { reason: format!("{}; {}", reason(&no_damon), reason(&nor)) })
                }
            },
        },
        Kind::Referenced | Kind::None => {
            Err(MemoryError::NoSource { reason: "not requested from the guest".to_owned() })
        }
    }
}

fn reason(error: &MemoryError) -> String {
    match error {
        MemoryError::NoSource { reason } => reason.clone(),
        other => other.to_string(),
    }
}

fn read(path: &str) -> Result<String, MemoryError> {
    std::fs::read_to_string(path).map_err(|error| refused("read", path, &error))
}

#[expect(clippy::disallowed_methods, reason = "kernel interfaces are files")]
fn write(path: &str, text: &str) -> Result<(), MemoryError> {
    std::fs::write(path, text).map_err(|error| refused("write", path, &error))
}

fn refused(operation: &'static str, path: &str, error: &std::io::Error) -> MemoryError {
    MemoryError::NoSource { reason: format!("cannot {operation} {path}: {error}") }
}

/// Source: scheduler/sched-stats.rst in Linux's documentation.
fn cpu_of(pid: u32) -> Nanos {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    Nanos(text.split_ascii_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

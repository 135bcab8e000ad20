//! Telemetry of a machine's memory: access sources behind a trait, one per file, and kernel counters of a guest.

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

/// Accesses by NUMA node.
pub type Accesses = BTreeMap<u32, Vec<AccessClass>>;

/// Result of reading a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    Accesses(Accesses),
    /// No accesses yet, with the reason.
    Pending(&'static str),
}

/// Reason at the first look of a source that compares two.
const FIRST_LOOK: &str = "this look starts the count";

/// A source of memory accesses.
pub trait AccessSource: Send {
    fn kind(&self) -> AccessSourceKind;

    /// Accesses since the previous look. Pending at the first look and after memory was added or removed.
    ///
    /// # Errors
    /// If the kernel stops reporting.
    fn look(&mut self) -> Result<Look, MemoryError>;

    /// CPU time spent so far by other threads than the caller.
    fn cost(&self) -> Nanos {
        Nanos(0)
    }
}

/// The requested source, or the best one of this kernel for a guest's agent. The error is the reason for none.
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

/// The reason of an error.
fn reason(error: &MemoryError) -> String {
    match error {
        MemoryError::NoSource { reason } => reason.clone(),
        other => other.to_string(),
    }
}

/// Reads a kernel file.
fn read(path: &str) -> Result<String, MemoryError> {
    std::fs::read_to_string(path).map_err(|error| refused("read", path, &error))
}

/// Writes a kernel file.
#[expect(clippy::disallowed_methods, reason = "kernel interfaces are files")]
fn write(path: &str, text: &str) -> Result<(), MemoryError> {
    std::fs::write(path, text).map_err(|error| refused("write", path, &error))
}

fn refused(operation: &'static str, path: &str, error: &std::io::Error) -> MemoryError {
    MemoryError::NoSource { reason: format!("cannot {operation} {path}: {error}") }
}

/// CPU time of a kernel task or of a process's main thread. Source: scheduler/sched-stats.rst of Linux.
fn cpu_of(pid: u32) -> Nanos {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    Nanos(text.split_ascii_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

//! The common interface of probes.

use protocol::{BreakdownOrder, Subject};
use samples::{ProbeKind, ProbeResults};
use thiserror::Error;

/// A probe loads its programs once, and then starts and stops them as needed. The kernel unloads them when the probe
/// is dropped or the process ends.
pub trait Probe: Send {
    fn kind(&self) -> ProbeKind;

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError>;

    fn read(&mut self, seen: &mut ProbeResults) -> Result<(), ProbeError>;

    fn stop(&mut self);
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    pub subjects: Vec<Subject>,
    pub latency_breakdown: Option<BreakdownOrder>,
}

/// The error never contains the log of the BPF verifier.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum ProbeError {
    #[error("{reason}; {remedy}")]
    Unavailable { reason: String, remedy: String },
    #[error("cannot {operation}: {reason}")]
    Failed { operation: String, reason: String },
}

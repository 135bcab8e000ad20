//! Watching with probes: what every probe has in common. Must not know how any of them looks.

use protocol::{BreakdownOrder, Subject};
use samples::{ProbeKind, ProbeResults};
use thiserror::Error;

use crate::{cpu_owners, packet_way, syscalls};

/// Loads the programs of a probe, which then waits for its first start.
///
/// # Errors
/// [`ProbeError::Unavailable`] when this kernel or the rights of this process do not allow it.
pub fn probe(kind: ProbeKind) -> Result<Box<dyn Probe>, ProbeError> {
    match kind {
        ProbeKind::Cpu => cpu_owners::probe(),
        ProbeKind::Syscalls => syscalls::probe(),
        ProbeKind::PacketWay => packet_way::probe(),
    }
}

/// Something that watches from the kernel. Made once, which loads its programs; then started and stopped at will.
/// Nothing of it is left in the kernel when it is dropped, nor when its process dies.
pub trait Probe: Send {
    /// Which.
    fn kind(&self) -> ProbeKind;

    /// Forgets what it saw and looks from now on.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError>;

    /// Puts in what it has seen since the start; goes on looking.
    ///
    /// # Errors
    /// When the kernel refuses.
    fn read(&mut self, seen: &mut ProbeResults) -> Result<(), ProbeError>;

    /// Looks no more and costs nothing until the next start. What was seen can still be read.
    fn stop(&mut self);
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// Whose processes are whose.
    pub subjects: Vec<Subject>,
    /// The messages to follow.
    pub way: Option<BreakdownOrder>,
}

/// What can go wrong with a probe. Never holds a verifier's log.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum ProbeError {
    /// It cannot run here.
    #[error("{because}; {remedy}")]
    Unavailable {
        /// What is missing.
        because: String,
        /// What to do.
        remedy: String,
    },
    /// It could not do something that it should be able to do.
    #[error("cannot {operation}: {because}")]
    Failed {
        /// What was tried, on what.
        operation: String,
        /// Why.
        because: String,
    },
}

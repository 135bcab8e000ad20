//! Why memory does not move.

use machine::MonitorError;
use thiserror::Error;
use units::Bytes;

/// Memory could not be moved.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// QEMU does not answer, or refuses.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// The kernel refuses.
    #[error(transparent)]
    Kernel(#[from] sys::Error),
    /// The guest's agent cannot be asked, or refuses.
    #[error("the guest's agent: {0}")]
    Guest(String),
    /// QEMU answered something else.
    #[error("QEMU answers `{command}` with what plumb does not understand: {answer}")]
    Strange {
        /// What it was asked.
        command: &'static str,
        answer: String,
    },
    #[error(
        "the machine has no virtio-balloon: start it with `-device virtio-balloon-pci`, or add one by `device_add`"
    )]
    NoBalloon,
    /// Its memory cannot be freed from outside.
    #[error("memory of process {pid} cannot be freed behind its back: {because}")]
    InOtherHands { pid: u32, because: String },
    /// The guest handed over what is not its own.
    #[error("the guest hands over {block:#x}, {because}: nothing more is freed for it")]
    NotIts { block: u64, because: &'static str },
    /// Memory was freed that the guest had not handed over.
    #[error(
        "{damaged} of {guarded} that the guest had kept have changed: what was freed was its own. Do not take memory from this \
         machine by this method, and please report this"
    )]
    Damaged { damaged: Bytes, guarded: Bytes },
    /// It does not go on.
    #[error(
        "{moved} of {asked} have moved, and nothing more did for {seconds} s: the guest has no more to give, or hangs"
    )]
    Stuck { moved: Bytes, asked: Bytes, seconds: u64 },
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

//! Why memory does not move.

use machine::MonitorError;
use thiserror::Error;
use units::Bytes;

/// Memory could not be moved.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// QEMU does not answer, or refuses.
    #[error(transparent)]
    Monitor(MonitorError),
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
        "the machine has neither a virtio-balloon nor a virtio-mem device: start it with `-device virtio-balloon-pci`, or add one \
         by `device_add`"
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
    #[error("this kernel does not free parts of a memory file: {because}")]
    NotFreed { because: String },
    /// Nothing tells of accesses.
    #[error("accesses are not seen: {because}")]
    NoSource { because: String },
    /// The machine's memory is moved by another process.
    #[error("another process moves the memory of process {pid}; end that one first ({})", lock.display())]
    Locked {
        pid: u32,
        /// The file that it holds.
        lock: std::path::PathBuf,
    },
    #[error("cannot lock {}, so that nobody else moves this machine's memory: {source}", path.display())]
    NoLock {
        path: std::path::PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It has no device of this kind, or nothing that moves memory so.
    #[error("its memory cannot be moved by {method}: {because}")]
    NoMethod { method: &'static str, because: String },
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
}

impl From<MonitorError> for MemoryError {
    fn from(error: MonitorError) -> Self {
        match error {
            MonitorError::Interrupted => Self::Interrupted,
            error => Self::Monitor(error),
        }
    }
}

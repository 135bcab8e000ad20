//! Errors of moving memory.

use machine::MonitorError;
use thiserror::Error;
use units::Bytes;

#[derive(Debug, Error)]
pub enum MemoryError {
    /// QEMU refused or did not reply.
    #[error(transparent)]
    Monitor(MonitorError),
    #[error(transparent)]
    Kernel(#[from] sys::Error),
    /// The guest's agent refused or did not reply.
    #[error("the guest's agent: {0}")]
    Guest(String),
    /// Unexpected reply from QEMU.
    #[error("unexpected reply from QEMU to `{command}`: {answer}")]
    Strange { command: &'static str, answer: String },
    #[error(
        "the machine has neither a virtio-balloon nor a virtio-mem device: start it with `-device virtio-balloon-pci`, or add one \
         by `device_add`"
    )]
    NoBalloon,
    /// The host cannot free the process's memory.
    #[error("cannot free memory of process {pid} from outside: {reason}")]
    InOtherHands { pid: u32, reason: String },
    /// The guest returned invalid blocks.
    #[error("the guest returned an invalid block {block:#x}: {reason}; no more of its memory is freed")]
    NotIts { block: u64, reason: &'static str },
    /// Memory was freed not returned by the guest.
    #[error(
        "{damaged} of {guarded} of retained guest memory were damaged: memory in use was freed. Do not take memory from this \
         machine by this method, and please report this"
    )]
    Damaged { damaged: Bytes, guarded: Bytes },
    /// No progress.
    #[error(
        "only {moved} of {asked} moved, with no progress for {seconds} s: the guest has no more free memory, or hangs"
    )]
    Stuck { moved: Bytes, asked: Bytes, seconds: u64 },
    #[error("this kernel does not free parts of a memory file: {reason}")]
    NotFreed { reason: String },
    /// Accesses are not available.
    #[error("no access data: {reason}")]
    NoSource { reason: String },
    /// Another process moves the machine's memory.
    #[error("another process moves the memory of process {pid}; stop it first (lock file {})", lock.display())]
    Locked {
        pid: u32,
        /// The lock file.
        lock: std::path::PathBuf,
    },
    #[error("cannot lock {} to move this machine's memory: {source}", path.display())]
    NoLock {
        path: std::path::PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The machine lacks the device or capability for this method.
    #[error("cannot move its memory with {method}: {reason}")]
    NoMethod { method: &'static str, reason: String },
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

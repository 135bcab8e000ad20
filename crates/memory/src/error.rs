//! Errors when moving memory.

use machine::MonitorError;
use thiserror::Error;
use units::Bytes;

#[derive(Debug, Error)]
pub enum MemoryError {
    #[error(transparent)]
    Monitor(MonitorError),
    #[error(transparent)]
    Kernel(#[from] sys::Error),
    #[error("the guest's agent: {0}")]
    Guest(String),
    #[error("unexpected reply from QEMU to `{command}`: {answer}")]
    Strange { command: &'static str, answer: String },
    #[error(
        "the machine has neither a virtio-balloon nor a virtio-mem device: start it with `-device virtio-balloon-pci`, or add one \
         with `device_add`"
    )]
    NoBalloon,
    #[error("cannot free memory of process {pid} from outside: {reason}")]
    InOtherHands { pid: u32, reason: String },
    #[error("the guest returned an invalid block {block:#x}: {reason}; no more of its memory is freed")]
    NotIts { block: u64, reason: &'static str },
    #[error(
        "retained guest memory was damaged ({damaged} of {guarded}), because memory in use was freed. Do not use this method \
         on this machine, and please report this"
    )]
    Damaged { damaged: Bytes, guarded: Bytes },
    #[error(
        "only {moved} of {asked} moved, with no progress for {seconds} s: the guest has no more free memory, or hangs"
    )]
    Stuck { moved: Bytes, asked: Bytes, seconds: u64 },
    #[error("this kernel cannot free parts of a memory file: {reason}")]
    NotFreed { reason: String },
    #[error("no access data: {reason}")]
    NoSource { reason: String },
    #[error("another process is moving the memory of process {pid}; stop it first (lock file {})", lock.display())]
    Locked { pid: u32, lock: std::path::PathBuf },
    #[error("cannot lock {} to move this machine's memory: {source}", path.display())]
    NoLock {
        path: std::path::PathBuf,
        #[source]
        source: std::io::Error,
    },
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

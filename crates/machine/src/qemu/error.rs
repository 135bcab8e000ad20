//! Why a virtual machine of QEMU does not run.

use std::io;

use thiserror::Error;
use units::Bytes;

use super::{monitor::MonitorError, qmp::QmpError};
use crate::guest::GuestError;

/// A virtual machine of QEMU could not be started.
#[derive(Debug, Error)]
pub enum QemuError {
    /// There is no QEMU.
    #[error("qemu-system-x86_64 is not installed; `apt-get install qemu-system-x86` brings it")]
    NotInstalled,
    /// The CPU's virtualisation was asked for and does not work.
    #[error("no guest can be run by KVM: {0}; --accel tcg emulates one")]
    NoKvm(#[source] sys::Error),
    /// The guest would not boot.
    #[error("a guest needs {least} of memory, {asked} is too little")]
    TooLittleMemory {
        /// What it was to have.
        asked: Bytes,
        /// What it needs.
        least: Bytes,
    },
    /// The process could not be started.
    #[error(transparent)]
    Start(sys::Error),
    /// A file that a guest's image was to have is missing.
    #[error(transparent)]
    Contents(#[from] GuestError),
    /// A stream to it could not be made.
    #[error("cannot make the streams to QEMU: {0}")]
    Streams(#[from] io::Error),
    /// It ended at once.
    #[error("QEMU ended with status {status}{}", said(words))]
    Ended {
        /// Its exit status.
        status: i32,
        /// Its last lines.
        words: String,
    },
    /// Its threads are not known.
    #[error("cannot tell the threads of QEMU apart: {source}")]
    Threads {
        /// What its monitor protocol says.
        #[source]
        source: QmpError,
    },
    /// Its threads cannot run where they are to.
    #[error("{0}; `cpus` and `monitor-cpus` are numbers of CPUs of this machine")]
    Pin(#[source] sys::Error),
    /// The monitor that its memory is moved by does not answer.
    #[error(transparent)]
    MemoryMonitor(MonitorError),
    /// It does not answer.
    #[error("{source}{}", said(words))]
    Monitor {
        /// What its monitor protocol says.
        #[source]
        source: QmpError,
        /// Its last lines.
        words: String,
    },
}

impl QemuError {
    pub(super) fn of_start(error: sys::Error) -> Self {
        if error.is_unsupported() { Self::NotInstalled } else { Self::Start(error) }
    }
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; last console output:\n{words}") }
}

//! The errors of QEMU virtual machines.

use std::io;

use thiserror::Error;
use units::Bytes;

use super::{monitor::MonitorError, qmp::QmpError};
use crate::{guest::GuestError, last_lines::last_output};

#[derive(Debug, Error)]
pub enum QemuError {
    #[error("qemu-system-x86_64 is not installed; install it with `apt-get install qemu-system-x86`")]
    NotInstalled,
    #[error("KVM does not work: {0}; use --accel tcg to emulate the guest")]
    NoKvm(#[source] sys::Error),
    #[error("{asked} of memory is too little for a guest; the minimum is {least}")]
    TooLittleMemory { asked: Bytes, least: Bytes },
    #[error(transparent)]
    Start(sys::Error),
    #[error(transparent)]
    Contents(#[from] GuestError),
    #[error("cannot create the streams to QEMU: {0}")]
    Streams(#[from] io::Error),
    #[error("QEMU exited with status {status}{}", last_output(words))]
    Ended { status: i32, words: String },
    #[error("cannot identify QEMU's threads: {source}")]
    Threads {
        #[source]
        source: QmpError,
    },
    #[error("{0}; `cpus` and `monitor-cpus` must list CPUs of this machine")]
    Pin(#[source] sys::Error),
    #[error(transparent)]
    MemoryMonitor(MonitorError),
    #[error("{source}{}", last_output(words))]
    Monitor {
        #[source]
        source: QmpError,
        words: String,
    },
}

impl QemuError {
    pub(super) fn of_start(error: sys::Error) -> Self {
        if error.is_unsupported() { Self::NotInstalled } else { Self::Start(error) }
    }
}

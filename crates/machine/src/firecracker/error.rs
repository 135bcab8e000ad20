//! Why a virtual machine of Firecracker does not run.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;
use units::Bytes;

use super::api::ApiError;

/// A virtual machine of Firecracker could not be started.
#[derive(Debug, Error)]
pub enum FirecrackerError {
    /// There is no Firecracker.
    #[error(
        "there is no {}: get the release for this machine from https://github.com/firecracker-microvm/firecracker/releases \
         and put its program on the PATH as `firecracker`, or name it with --firecracker PATH", program.display()
    )]
    NotInstalled {
        /// What was looked for.
        program: PathBuf,
    },
    /// It is another program.
    #[error("{} is not Firecracker: it does not say so when it is asked for its --version", program.display())]
    Other { program: PathBuf },
    /// It runs guests by KVM only.
    #[error("Firecracker needs KVM, by which no guest can be run: {0}")]
    NoKvm(#[source] sys::Error),
    /// The guest would not boot.
    #[error("a guest needs {least} of memory, {asked} is too little")]
    TooLittleMemory {
        /// What it was to have.
        asked: Bytes,
        /// What it needs.
        least: Bytes,
    },
    /// The process, or what it needs, could not be started.
    #[error(transparent)]
    Start(#[from] sys::Error),
    /// A stream to it could not be made.
    #[error("cannot make the streams to Firecracker: {0}")]
    Streams(#[from] io::Error),
    /// It ended at once.
    #[error("Firecracker ended with status {status}{}", said(words))]
    Ended {
        /// Its exit status.
        status: i32,
        /// Its last lines.
        words: String,
    },
    /// It does not answer, or refuses.
    #[error("{source}{}", said(words))]
    Api {
        /// What its interface says.
        #[source]
        source: ApiError,
        /// Its last lines.
        words: String,
    },
}

impl FirecrackerError {
    pub(super) fn of_start(error: sys::Error, program: &Path) -> Self {
        if error.is_unsupported() {
            Self::NotInstalled { program: program.to_owned() }
        } else {
            Self::Start(error)
        }
    }
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; last console output:\n{words}") }
}

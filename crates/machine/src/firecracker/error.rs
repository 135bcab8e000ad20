//! The errors of Firecracker virtual machines.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;
use units::Bytes;

use super::api::ApiError;
use crate::last_lines::last_output;

#[derive(Debug, Error)]
pub enum FirecrackerError {
    #[error(
        "{} is not installed; get the release for this machine from https://github.com/firecracker-microvm/firecracker/releases \
         and put it on the PATH as `firecracker`, or use --firecracker PATH", program.display()
    )]
    NotInstalled { program: PathBuf },
    #[error("{} is not Firecracker: its --version output does not start with `Firecracker`", program.display())]
    Other { program: PathBuf },
    #[error("Firecracker needs KVM, which is unavailable here: {0}")]
    NoKvm(#[source] sys::Error),
    #[error("{asked} of memory is too little for a guest; the minimum is {least}")]
    TooLittleMemory { asked: Bytes, least: Bytes },
    #[error(transparent)]
    Start(#[from] sys::Error),
    #[error("cannot create the streams to Firecracker: {0}")]
    Streams(#[from] io::Error),
    #[error("Firecracker exited with status {status}{}", last_output(words))]
    Ended { status: i32, words: String },
    #[error("{source}{}", last_output(words))]
    Api {
        #[source]
        source: ApiError,
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

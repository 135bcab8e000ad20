//! The errors of guest kernels and images.

use std::{io, path::PathBuf};

use thiserror::Error;

#[derive(Debug, Error)]
pub enum GuestError {
    #[error(
        "no kernel for guests: {folder} has no vmlinuz-RELEASE with installed modules; install one with \
         `apt-get install linux-image-cloud-amd64`, or use --kernel and --modules"
    )]
    NoKernel { folder: PathBuf },
    #[error(
        "no kernel {release} is installed for guests; installed: {installed}; choose one of these \
         or install {release} with its modules"
    )]
    NoSuchRelease { release: String, installed: String },
    #[error("cannot read {what} {path}: {source}")]
    Read {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "cannot find the modules of kernel {image}: its name has no release; call it \
         vmlinuz-RELEASE, or use `plumb vm run --modules`"
    )]
    NoRelease { image: PathBuf },
    #[error("{image} is not a bootable x86 kernel (bzImage or ELF file)")]
    NoKernelFile { image: PathBuf },
    #[error(
        "cannot decompress the kernel in {image}: {reason}; pass another one with --kernel, or an uncompressed one (vmlinux)"
    )]
    Packed { image: PathBuf, reason: String },
    #[error(
        "the kernel of {folder} has no module `{module}`, which guests need; choose another with --kernel and --modules"
    )]
    NoModule { module: String, folder: PathBuf },
    #[error("guests cannot run {path}: not a 64-bit ELF program: {reason}")]
    NoProgram { path: PathBuf, reason: String },
    #[error("cannot write the guest's image: {0}")]
    Write(#[from] io::Error),
    #[error(transparent)]
    Memory(#[from] sys::Error),
}

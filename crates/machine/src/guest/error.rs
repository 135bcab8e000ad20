//! Why a guest has nothing to boot.

use std::{io, path::PathBuf};

use thiserror::Error;

/// A guest's kernel or image could not be put together.
#[derive(Debug, Error)]
pub enum GuestError {
    /// No kernel is installed that a guest could boot.
    #[error(
        "no kernel for guests: {folder} has no vmlinuz-RELEASE whose modules are installed; install one with \
         `apt-get install linux-image-cloud-amd64`, or name one with --kernel and --modules"
    )]
    NoKernel {
        /// Where kernels are looked for.
        folder: PathBuf,
    },
    #[error(
        "no kernel {release} is installed for guests; installed: {installed}; choose one of these (--kernel, \
         PLUMB_GUEST_KERNEL) or install {release} with its modules"
    )]
    NoSuchRelease { release: String, installed: String },
    /// A file could not be read.
    #[error("cannot read {what} {path}: {source}")]
    Read {
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A kernel's modules cannot be found by its name.
    #[error(
        "the name of kernel {image} has no release (as vmlinuz-6.1.0 has), by which its modules are found; name their \
         folder with --modules"
    )]
    NoRelease {
        /// The kernel's file.
        image: PathBuf,
    },
    #[error("{image} is no kernel that a PC could boot (a bzImage, or an ELF file)")]
    NoKernelFile { image: PathBuf },
    /// The kernel cannot be taken out of its file.
    #[error(
        "cannot unpack the kernel in {image}: {reason}; name another with --kernel, or an uncompressed one (vmlinux)"
    )]
    Packed {
        /// The kernel's file.
        image: PathBuf,
        /// Why.
        reason: String,
    },
    /// The kernel has no such module.
    #[error(
        "the kernel of {folder} has no module `{module}`, which a guest needs; take another with --kernel and --modules"
    )]
    NoModule {
        /// Its name.
        module: String,
        folder: PathBuf,
    },
    /// The program is nothing that a guest could run.
    #[error("{path} is no 64-bit ELF program, so that no guest can run it: {reason}")]
    NoProgram {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The image could not be written.
    #[error("cannot write the guest's image: {0}")]
    Write(#[from] io::Error),
    /// No memory for the image.
    #[error(transparent)]
    Memory(#[from] sys::Error),
}

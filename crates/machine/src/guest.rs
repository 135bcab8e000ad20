//! A guest's boot files: a kernel from the host's packages, and an initramfs with this program as first process.

use std::path::PathBuf;

mod error;
mod image;
mod kernel;
mod modules;
mod program;
mod vmlinux;

pub use error::GuestError;
pub use image::Image;
pub use kernel::Kernel;
pub(crate) use program::loadable;
pub use vmlinux::Vmlinux;

/// A file of this machine to copy into the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    /// Path on this machine.
    pub from: PathBuf,
    /// Absolute path in the guest.
    pub to: PathBuf,
}

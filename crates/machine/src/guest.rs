//! A guest's boot files: a kernel from the host's packages, and an initramfs with this program as the first
//! process.

use std::path::PathBuf;

mod error;
mod image;
mod kernel;
mod modules;
mod program;
mod vmlinux;

pub use error::GuestError;
pub use image::Image;
pub use kernel::{ConfiguredKernel, Kernel};
pub(crate) use program::loadable;
pub use vmlinux::Vmlinux;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    pub from: PathBuf,
    pub to: PathBuf,
}

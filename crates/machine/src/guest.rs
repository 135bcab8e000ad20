//! What a guest boots: a kernel of the host's packages, and an image in memory with this program as its first process.
//! Must not know which monitor runs the guest.

mod error;
mod image;
mod kernel;
mod modules;
mod program;
mod vmlinux;

pub use error::GuestError;
pub use image::{Image, ImageFile};
pub use kernel::Kernel;
pub(crate) use program::loadable;
pub use vmlinux::Vmlinux;

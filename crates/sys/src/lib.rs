//! Safe wrappers for system calls. This is the only crate with unsafe code. Every error contains the operation, the
//! object and the reason.

pub mod affinity;
pub mod allocation;
pub mod anonymous_memory;
pub mod boot;
pub mod bounded_file;
pub mod bpf;
pub mod child;
pub mod clock;
pub mod confine;
pub mod counted_window;
pub mod device_statistics;
mod error;
pub mod foreign_tap;
pub mod forked_process;
pub mod huge_page_file;
pub mod kvm;
pub mod limits;
pub mod memory_file;
mod memory_folder;
pub mod netns;
pub mod numa;
pub mod output_file;
pub mod poller;
mod private_folder;
pub mod process;
pub mod ptrace;
mod resolve;
pub mod socket;
pub mod sysfs;
pub mod tap;
mod trust;
pub mod tsc;
pub mod uname;
pub mod userns;
pub mod vhost;
pub mod vsock;

pub use error::{Error, Result};
pub use memory_folder::MemoryFolder;
pub use private_folder::PrivateFolder;
pub use trust::{Readers, TrustError, open_trusted, require_trusted};

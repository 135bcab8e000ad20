//! Permanently drops privileges: user, capabilities, new privileges, file access and system calls.
//!
//! All restrictions apply to the calling thread and threads that it starts, so they must be set while the process is
//! single-threaded ([`is_single_threaded`]).

pub mod calls;
mod landlock;
mod seccomp;
mod user;

use std::fs;

pub use landlock::{Landlock, restrict_files};
pub use seccomp::{Call, filter_calls};
pub use user::{User, become_user, drop_bounds, groups_that_open, is_mapped, is_root, keep_capabilities};
pub(crate) use user::{change_user, groups};

use crate::error::{Context, Result};

/// Whether the process has only one thread.
pub fn is_single_threaded() -> Result<bool> {
    let threads = fs::read_dir("/proc/self/task").named("list", || "the threads of this process")?;
    Ok(threads.count() == 1)
}

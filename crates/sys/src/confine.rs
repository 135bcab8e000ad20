//! Giving up rights for good: another user, no capabilities, no new privileges, few files, few system calls.
//!
//! All of it is each thread's own and passed on to the threads that it starts, so it has to be called while the process
//! has a single thread; [`is_single_threaded`] tells. It must not know what the process will need.

pub mod calls;
mod landlock;
mod seccomp;
mod user;

use std::fs;

pub use landlock::{Landlock, restrict_files};
pub use seccomp::{Call, filter_calls};
pub use user::{
    User, become_user, drop_bounds, forbid_new_privileges, groups_that_open, is_mapped, is_root,
    keep_capabilities,
};
pub(crate) use user::{change_user, groups};

use crate::error::{Context, Result};

/// Whether the calling thread is the only one of its process.
pub fn is_single_threaded() -> Result<bool> {
    let threads = fs::read_dir("/proc/self/task").named("list", || "the threads of this process")?;
    Ok(threads.count() == 1)
}

//! Permanently drops the privileges of the calling thread and of threads that it starts later. The process must
//! still be single-threaded ([`is_single_threaded`]).

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

pub fn is_single_threaded() -> Result<bool> {
    let threads = fs::read_dir("/proc/self/task").named("list", || "the threads of this process")?;
    Ok(threads.count() == 1)
}

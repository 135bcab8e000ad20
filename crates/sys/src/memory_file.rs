//! Files that are memory: nobody else's business, and gone with the last process that holds them.
//!
//! It must not know what is in them. See memfd_create(2).

use std::fs::File;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::{Context, Result};

/// An empty file in memory; `name` is what lists of open files show.
pub fn create(name: &str) -> Result<File> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC).named("make", || format!("memory file {name}"))?;
    Ok(File::from(file))
}

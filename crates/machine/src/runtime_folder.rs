//! The folder for data that does not survive a reboot.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// For root, this is /run regardless of `named`, which may come from another user (`sudo -E`, `su`). For
/// other users, it is `named`, or by default a folder in `temporary`.
#[must_use]
pub fn runtime_folder(named: Option<PathBuf>, temporary: &Path) -> PathBuf {
    let user = sys::process::user();
    // In a user namespace, root has no /run unless a container provides one.
    let has_run = !sys::userns::is_nested() || fs::metadata("/run").is_ok_and(|run| run.uid() == user);
    if user == 0 && has_run {
        return PathBuf::from("/run");
    }
    named.unwrap_or_else(|| temporary.join(format!("plumb-{user}")))
}

//! Where things live that do not survive a reboot: root's below /run, another user's in a folder of their own.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// /run for root, whatever is `named`: what names it may come from another user, as `sudo -E` and `su` keep it. For
/// others the folder that is named, and without one a folder among the `temporary` ones.
#[must_use]
pub fn runtime_folder(named: Option<PathBuf>, temporary: &Path) -> PathBuf {
    let user = sys::process::user();
    // Root of a user namespace has no /run, unless somebody has brought one for it, as in a container.
    let has_run = !sys::userns::is_nested() || fs::metadata("/run").is_ok_and(|run| run.uid() == user);
    if user == 0 && has_run {
        return PathBuf::from("/run");
    }
    named.unwrap_or_else(|| temporary.join(format!("plumb-{user}")))
}

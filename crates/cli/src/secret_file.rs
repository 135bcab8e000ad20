//! Files that hold a secret: only their owner may read them. Independent of what the secret is for.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::Path,
};

use anyhow::Context;

use crate::{bounded_file, failure::Misuse};

/// The text of `file`, which only its owner can read, or a group to which root gave it, as a cluster mounts secrets.
///
/// # Errors
/// When it cannot be read, is too long, or others can read it too.
pub(crate) fn read(file: &Path, about: impl Fn() -> String) -> anyhow::Result<String> {
    let opened = File::open(file).with_context(&about)?;
    let found = opened.metadata().with_context(&about)?;
    let text = bounded_file::read_opened(opened).with_context(&about)?;
    // The owner of this process's own folder is its user.
    let own = fs::metadata("/proc/self").context("/proc/self")?.uid();
    let others = if found.uid() == 0 && own != 0 { 0o007 } else { 0o077 };
    if found.is_file() && found.mode() & others != 0 {
        let message = format!("{} can be read by others", about());
        return Err(Misuse::new(message).hint(format!("chmod 600 {}", file.display())).into());
    }
    Ok(text)
}

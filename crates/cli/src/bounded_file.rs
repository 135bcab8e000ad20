//! Reads files up to a maximum size, and checks the permissions of trusted files.

use std::path::Path;

use anyhow::{Context, Result};
pub(crate) use sys::bounded_file::{read, read_opened, read_ours};
use sys::{Readers, TrustError};

use crate::failure::Misuse;

/// Reads a file that plumb executes or trusts. Only the owner may have write access.
///
/// # Errors
///
/// Fails if another user could have written to the file, or if [`read`] fails.
pub(crate) fn read_trusted(path: &Path) -> Result<String> {
    trusted(path, Readers::Anyone)
}

/// Like [`read_trusted`], for a key or token that only its owner may read.
pub(crate) fn read_secret(path: &Path) -> Result<String> {
    trusted(path, Readers::Owner)
}

fn trusted(path: &Path, readers: Readers) -> Result<String> {
    let file = sys::open_trusted(path, readers).map_err(untrusted)?;
    read_opened(file).with_context(|| format!("cannot read {}", path.display()))
}

pub(crate) fn require_trusted(path: &Path) -> Result<()> {
    sys::require_trusted(path).map_err(untrusted)
}

fn untrusted(error: TrustError) -> anyhow::Error {
    match error {
        TrustError::Untrusted { ref remedy, .. } => {
            Misuse::new(error.to_string()).hint(format!("if you trust its contents, run `{remedy}`")).into()
        }
        TrustError::Unreadable { path, source } => {
            anyhow::Error::new(source).context(format!("cannot read {}", path.display()))
        }
    }
}

//! The program that is copied to hosts, and the hash by which it is known there.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::guest::{GuestError, loadable};

/// This program without what only debuggers read.
#[derive(Debug)]
pub struct ProgramCopy {
    bytes: Vec<u8>,
    hash: String,
}

impl ProgramCopy {
    /// That of the program in `path`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(path: &Path) -> Result<Self, GuestError> {
        let bytes = loadable(path)?;
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { bytes, hash })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256, in hex.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    #[cfg(test)]
    pub(super) fn pretended(hash: &str) -> Self {
        Self { bytes: Vec::new(), hash: hash.to_owned() }
    }
}

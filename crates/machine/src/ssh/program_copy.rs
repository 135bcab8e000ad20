//! The program to copy to hosts, and its hash.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::guest::{GuestError, loadable};

#[derive(Debug)]
pub struct ProgramCopy {
    bytes: Vec<u8>,
    hash: String,
}

impl ProgramCopy {
    pub fn of(path: &Path) -> Result<Self, GuestError> {
        Ok(Self::of_bytes(loadable(path)?))
    }

    fn of_bytes(bytes: Vec<u8>) -> Self {
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { bytes, hash }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    #[cfg(test)]
    pub(super) fn pretended(bytes: &[u8]) -> Self {
        Self::of_bytes(bytes.to_vec())
    }
}

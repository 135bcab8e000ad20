//! Errors when reading kernel files.

use thiserror::Error;

/// A kernel file could not be read or parsed.
#[derive(Debug, Error)]
#[error("cannot read {what}: {source}")]
pub struct Error {
    /// The file, or the part of it.
    pub what: &'static str,
    #[source]
    pub source: procfs::ProcError,
}

//! What can go wrong when the kernel is asked.

use thiserror::Error;

/// A file of the kernel could not be read or understood.
#[derive(Debug, Error)]
#[error("cannot read {what}: {source}")]
pub struct Error {
    /// Which file, or what of it.
    pub what: &'static str,
    /// Why.
    #[source]
    pub source: procfs::ProcError,
}

//! Errors when reading kernel files.

use thiserror::Error;

#[derive(Debug, Error)]
#[error("cannot read {what}: {source}")]
pub struct Error {
    pub what: &'static str,
    #[source]
    pub source: procfs::ProcError,
}

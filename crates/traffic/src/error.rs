//! The errors of a workload. An error names the operation, the connection and the reason.

use std::io;

use thiserror::Error;
use units::{Bytes, Nanos};

use crate::refused::RefusalCode;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Error)]
pub enum Error {
    #[error(transparent)]
    System(#[from] sys::Error),
    #[error("cannot {operation} {object}: {source}")]
    Socket { operation: &'static str, object: String, source: io::Error },
    #[error(
        "{object}: waited {waited} for {missing}; check that the other end is running and that the path is up"
    )]
    Silent { object: String, missing: String, waited: Nanos },
    #[error("{object} was closed by the other end after {got} of {asked}")]
    CutShort { object: String, got: String, asked: String },
    #[error(
        "{object} does not end: {got} received, and the end is overdue; check that the other end has the same version"
    )]
    Endless { object: String, got: Bytes },
    #[error("the server refuses {object}: {reason}")]
    Refused { object: String, reason: RefusalCode },
    #[error("the server ended {object} early: {reason}")]
    Ended { object: String, reason: RefusalCode },
    #[error("ended by the client")]
    Left,
    #[error("{setting} cannot be {value}; use {allowed}")]
    Setting { setting: &'static str, value: String, allowed: &'static str },
    #[error(transparent)]
    Iperf3(#[from] codecs::iperf3::Failure),
    #[error("ended by this server's limit on {0}")]
    Limit(&'static str),
    /// Restarting the helper would need privileges that the server has dropped.
    #[error("{0} has ended; start the server again")]
    HelperEnded(&'static str),
    #[error("stopped early")]
    Stopped,
    #[error("the traffic thread of {thread} panicked; please report this")]
    Panicked { thread: String },
}

impl Error {
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::System(error) if error.is_unsupported())
    }

    #[must_use]
    pub fn is_taken(&self) -> bool {
        match self {
            Self::System(error) => {
                io::Error::from_raw_os_error(error.errno()).kind() == io::ErrorKind::AddrInUse
            }
            Self::Socket { source, .. } => source.kind() == io::ErrorKind::AddrInUse,
            _ => false,
        }
    }

    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped)
    }

    #[must_use]
    pub fn is_reset(&self) -> bool {
        matches!(self, Self::Socket { source, .. } if source.kind() == io::ErrorKind::ConnectionReset)
    }

    pub fn socket<O: Into<String>>(
        operation: &'static str,
        object: impl FnOnce() -> O,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Socket { operation, object: object().into(), source }
    }

    #[must_use]
    pub fn refusal(&self) -> RefusalCode {
        match self {
            Self::Limit("duration") => RefusalCode::Duration,
            Self::Limit("bytes") => RefusalCode::Bytes,
            Self::Limit("rate") => RefusalCode::Rate,
            Self::Stopped => RefusalCode::Ended,
            _ => RefusalCode::Unspecified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_errors_map_to_their_reason() {
        for (error, expected) in [
            (Error::Limit("duration"), RefusalCode::Duration),
            (Error::Limit("bytes"), RefusalCode::Bytes),
            (Error::Limit("rate"), RefusalCode::Rate),
            (Error::Stopped, RefusalCode::Ended),
            (Error::Left, RefusalCode::Unspecified),
        ] {
            assert_eq!(error.refusal(), expected, "{error}");
        }
    }
}

//! What can go wrong with a load: which operation, on which connection, why.

use std::io;

use thiserror::Error;
use units::{Bytes, Nanos};

use crate::refused::RefusalCode;

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a load has no numbers.
#[derive(Debug, Error)]
pub enum Error {
    /// The kernel refused an option, a placement or an address.
    #[error(transparent)]
    System(#[from] sys::Error),
    /// A socket failed.
    #[error("cannot {operation} {object}: {source}")]
    Socket {
        /// What was tried.
        operation: &'static str,
        /// On which connection or address.
        object: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// Something that the peer owed did not come in time.
    #[error("{object}: waited {waited} for {missing}; is the other end alive and the path up?")]
    Silent {
        /// The connection or address.
        object: String,
        /// What did not come.
        missing: String,
        /// For how long.
        waited: Nanos,
    },
    /// A connection ended before it had carried what was asked.
    #[error("{object} was closed by the other end after {got} of {asked}")]
    CutShort {
        /// The connection.
        object: String,
        /// What it carried, or for how long.
        got: String,
        /// What it should have.
        asked: String,
    },
    /// The other end goes on sending after all that was asked.
    #[error(
        "{object} does not end: {got} have come, and the end is overdue; is the other end of the same version?"
    )]
    Endless {
        /// The connection.
        object: String,
        /// What has come.
        got: Bytes,
    },
    /// A server would not begin.
    #[error("the server refuses {object}: {because}")]
    Refused {
        /// What was asked of it.
        object: String,
        /// Why.
        because: RefusalCode,
    },
    /// A server that was willing at first ended it.
    #[error("the server ended {object} ahead of time: {because}")]
    Ended {
        /// The connection or exchange.
        object: String,
        /// Why.
        because: RefusalCode,
    },
    /// A client of a standing server ended what it had begun, before its time.
    #[error("ended by the client")]
    Left,
    /// A setting is invalid.
    #[error("{setting} cannot be {value}: choose {allowed}")]
    Setting {
        setting: &'static str,
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// The control connection of an iperf3 test ended before the test did.
    #[error(transparent)]
    Iperf3(#[from] codecs::iperf3::Failure),
    /// A client of a standing server took more than it may.
    #[error("ended by this server's limit of {0}")]
    Limit(&'static str),
    /// A process that a standing server needs, and cannot start again without the rights that it gave up.
    #[error("{0} has ended; start the server again")]
    HelperEnded(&'static str),
    /// It was asked to stop.
    #[error("stopped before its end")]
    Stopped,
    /// A defect of this program.
    #[error("the traffic thread of {thread} panicked; please report this")]
    Panicked { thread: String },
}

impl Error {
    /// Whether the kernel lacks what was asked, so that it would never be met here.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::System(error) if error.is_unsupported())
    }

    /// Whether another socket has the port.
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

    /// Whether it only says that it was asked to stop.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped)
    }

    /// Whether the other end broke the connection off.
    #[must_use]
    pub fn is_reset(&self) -> bool {
        matches!(self, Self::Socket { source, .. } if source.kind() == io::ErrorKind::ConnectionReset)
    }

    /// Adds operation and object to what the kernel said; for `map_err`.
    pub fn socket<O: Into<String>>(
        operation: &'static str,
        object: impl FnOnce() -> O,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Socket { operation, object: object().into(), source }
    }
}

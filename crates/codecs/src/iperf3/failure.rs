//! Why a control connection ended before its test did.

use thiserror::Error;
use units::Nanos;

use super::{ErrorCode, State};

/// Why a test has no results.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    /// The server serves one test after another, and another is under way.
    #[error("the server is busy with another test; try again later")]
    Busy,
    /// Someone ended the server.
    #[error("the server was told to end")]
    ServerTerminated,
    /// The server gave up and said why.
    #[error("the server says: {}", code.describe(*errno))]
    Server {
        /// iperf3's number.
        code: ErrorCode,
        /// The number of the error at the server's machine, or 0.
        errno: i32,
    },
    /// The server's end refuses the client's parameters; the client was told.
    #[error("refused: {0}")]
    Refused(ErrorCode),
    /// The peer said something that does not follow from what was said before.
    #[error("expected {awaited}, but got {got}; does the other end speak iperf3?")]
    Unexpected {
        /// What would have followed.
        awaited: &'static str,
        /// The state, or the byte.
        got: UnexpectedByte,
    },
    /// The peer announced more than will be read.
    #[error("the {what} would take {length} bytes; at most {limit} are read")]
    Oversized {
        /// Which JSON.
        what: &'static str,
        /// How long it would be.
        length: u32,
        /// How long it may be.
        limit: u32,
    },
    /// The peer's JSON cannot be read.
    #[error("the {what} cannot be read: {because}")]
    Malformed {
        /// Which JSON.
        what: &'static str,
        /// The reader's words.
        because: String,
    },
    /// The peer's results cannot be true, and nothing else tells what it received.
    #[error("the other end's results cannot be true: {claim}")]
    Impossible {
        /// What it says.
        claim: String,
    },
    /// The peer did not say in time what it owed.
    #[error("waited {waited} for {awaited}; is the other end alive?")]
    Silent {
        /// What did not come.
        awaited: &'static str,
        /// For how long.
        waited: Nanos,
    },
    /// The peer closed the control connection.
    #[error("the other end closed the control connection; {awaited} had not come yet")]
    Closed {
        /// What would have come.
        awaited: &'static str,
    },
}

/// A byte where a state was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UnexpectedByte {
    /// A state, at the wrong time.
    #[error("{0:?}")]
    State(State),
    /// No state at all.
    #[error("byte {0:#04x}")]
    Byte(u8),
}

impl UnexpectedByte {
    pub(super) fn of(byte: u8) -> Self {
        State::from_byte(byte).map_or(Self::Byte(byte), Self::State)
    }
}

impl Failure {
    /// What a server tells the client about it; `None` where there is nothing to tell, or nobody.
    #[must_use]
    pub const fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(code) => Some(*code),
            Self::Unexpected { .. } => Some(ErrorCode::MESSAGE),
            Self::Silent { .. } => Some(ErrorCode::NO_MESSAGE),
            Self::Busy | Self::ServerTerminated | Self::Server { .. } | Self::Closed { .. } => None,
            Self::Oversized { .. } | Self::Malformed { .. } | Self::Impossible { .. } => {
                Some(ErrorCode::MESSAGE)
            }
        }
    }
}

//! Reasons why a control connection ends before its test.

use thiserror::Error;
use units::Nanos;

use super::{ErrorCode, State};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Failure {
    /// The server runs only one test at a time.
    #[error("the server is busy with another test; try again later")]
    Busy,
    #[error("the server was terminated")]
    ServerTerminated,
    #[error("server error: {}", code.describe(*errno))]
    Server { code: ErrorCode, errno: i32 },
    #[error("refused: {0}")]
    Refused(ErrorCode),
    #[error("expected {awaited}, but got {got}; check that the other end is iperf3")]
    Unexpected { awaited: &'static str, got: UnexpectedByte },
    #[error("{what} too long: {length} bytes, but the limit is {limit}")]
    Oversized { what: &'static str, length: u32, limit: u32 },
    #[error("cannot parse the {what}: {reason}")]
    Malformed { what: &'static str, reason: String },
    /// The peer's results are impossible, and nothing else shows the number of bytes that the peer received.
    #[error("the other end's results are impossible: {claim}")]
    Impossible { claim: String },
    #[error("waited {waited} for {awaited}; check that the other end is still running")]
    Silent { awaited: &'static str, waited: Nanos },
    #[error("the other end closed the control connection while this end waited for {awaited}")]
    Closed { awaited: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UnexpectedByte {
    #[error("{0:?}")]
    State(State),
    #[error("byte {0:#04x}")]
    Byte(u8),
}

impl UnexpectedByte {
    pub(super) fn of(byte: u8) -> Self {
        State::from_byte(byte).map_or(Self::Byte(byte), Self::State)
    }
}

impl Failure {
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

//! Why a server does not, or no longer, serve a client.
//!
//! Over UDP the reason is a number in a greeting. Over TCP it is what iperf3's servers send, a state and usually an
//! error number, so that iperf3 clients understand as much as possible. Pure.

use codecs::iperf3::{ErrorCode, NOT_ALLOWED, State};
use thiserror::Error;

use crate::error::Error;

/// Maximum length over TCP.
pub(crate) const LONGEST: usize = 9;
/// Start of error numbers that iperf3 does not use.
const OURS: i32 = 9000;

/// Why a client is refused, with advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RefusalCode {
    /// No or an unknown reason.
    #[error("it gave no reason; it may limit time, bytes or rate, or was stopped: see its output")]
    Unspecified,
    /// All places are taken.
    #[error("it is busy with the maximum number of clients (--max-clients); try again later")]
    Busy,
    #[error("this address is not allowed (--allow); ask the server's operator to add it")]
    Address,
    #[error(
        "it requires authentication (--rsa-private-key-path), which pings do not support; use a server \
                 without it"
    )]
    Login,
    /// Time limit.
    #[error("the time limit per client is reached (--max-duration); request less with -t")]
    Duration,
    #[error("the byte limit per client is reached (--max-bytes); request less with -t or --rate")]
    Bytes,
    #[error(
        "its rate limit (--max-rate) ends faster clients instead of slowing them down; send less with --rate or -m"
    )]
    Rate,
    /// The server was stopped.
    #[error("it was stopped, or gave this client's place to another address (see its log)")]
    Ended,
    /// Unsupported request.
    #[error("it does not support this kind of load; check that it has the same version")]
    Kind,
    /// All places for this address are taken.
    #[error("it already serves the maximum number of clients from this address (--max-clients-per-address)")]
    AddressBusy,
}

impl RefusalCode {
    const ALL: [Self; 10] = [
        Self::Unspecified,
        Self::Busy,
        Self::Address,
        Self::Login,
        Self::Duration,
        Self::Bytes,
        Self::Rate,
        Self::Ended,
        Self::Kind,
        Self::AddressBusy,
    ];

    /// Number over UDP.
    pub(crate) const fn code(self) -> u64 {
        self as u64
    }

    /// Unknown numbers only mean a refusal.
    pub(crate) fn from_code(code: u64) -> Self {
        Self::ALL.into_iter().find(|refused| refused.code() == code).unwrap_or(Self::Unspecified)
    }

    /// Reason for a client that is no longer served.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Limit("duration") => Self::Duration,
            Error::Limit("bytes") => Self::Bytes,
            Error::Limit("rate") => Self::Rate,
            Error::Stopped => Self::Ended,
            _ => Self::Unspecified,
        }
    }

    /// Bytes over TCP.
    pub(crate) fn encode(self) -> Vec<u8> {
        let (code, errno) = match self {
            Self::Busy => return vec![State::AccessDenied.byte()],
            Self::Address => (ErrorCode::AUTHORIZATION.0, NOT_ALLOWED),
            other => (OURS + other as i32, 0),
        };
        [&[State::ServerError.byte()][..], &code.to_be_bytes(), &errno.to_be_bytes()].concat()
    }

    /// Parses the bytes over TCP; `None` for anything else.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (state, rest) = bytes.split_first()?;
        match State::from_byte(*state)? {
            State::AccessDenied => Some(Self::Busy),
            State::ServerError => Some(match rest.first_chunk().map(|code| i32::from_be_bytes(*code)) {
                Some(code) if code == ErrorCode::AUTHORIZATION.0 => Self::Address,
                // The number comes from the peer, so the difference may overflow.
                Some(code) => Self::from_code(u64::try_from(code.saturating_sub(OURS)).unwrap_or(0)),
                None => Self::Unspecified,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_round_trip_over_udp_and_tcp() {
        for refused in RefusalCode::ALL {
            assert_eq!(RefusalCode::from_code(refused.code()), refused);
            assert_eq!(RefusalCode::decode(&refused.encode()), Some(refused));
            assert!(refused.encode().len() <= LONGEST);
        }
        assert_eq!(RefusalCode::from_code(77), RefusalCode::Unspecified);
        for code in [1, i32::MIN, i32::MAX] {
            let bytes = [&[0xfe][..], &code.to_be_bytes(), &[0; 4]].concat();
            assert_eq!(RefusalCode::decode(&bytes), Some(RefusalCode::Unspecified), "{code}");
        }
        assert_eq!(RefusalCode::decode(b"g"), None);
    }

    #[test]
    fn limit_errors_map_to_their_reason() {
        for (error, expected) in [
            (Error::Limit("duration"), RefusalCode::Duration),
            (Error::Limit("bytes"), RefusalCode::Bytes),
            (Error::Limit("rate"), RefusalCode::Rate),
            (Error::Stopped, RefusalCode::Ended),
            (Error::Left, RefusalCode::Unspecified),
        ] {
            assert_eq!(RefusalCode::of(&error), expected, "{error}");
        }
    }
}

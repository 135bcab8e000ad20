//! Why a server serves a client not, or no longer, in words that both ends know.
//!
//! Over UDP it is a number in the refusing word of a greeting; over TCP it is what iperf3's servers say, so that its
//! clients understand as much of it as they can: a state, and for most a number of an error. Pure.

use codecs::iperf3::{ErrorCode, NOT_ALLOWED, State};
use thiserror::Error;

use crate::error::Error;

/// The longest of its words over TCP.
pub(crate) const LONGEST: usize = 9;
/// Numbers of errors that iperf3 does not have begin here.
const OURS: i32 = 9000;

/// Why a client is refused, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RefusalCode {
    /// It did not say, or in a word that is not known here.
    #[error(
        "it did not say why; it may have limits on time, bytes or rate, or was itself ended: see what it prints"
    )]
    Unsaid,
    /// No place.
    #[error("it is busy with as many clients as it may have (its --max-clients); try again later")]
    Busy,
    /// The client's address.
    #[error("clients of this address are not allowed (its --allow); whoever runs it can allow them")]
    Address,
    /// It serves nobody who has not logged in.
    #[error(
        "it serves only clients that log in, which pings cannot; whoever runs it can leave out its \
         --rsa-private-key-path"
    )]
    Login,
    /// The time that a client may take.
    #[error("that is all the time that it grants a client (its --max-duration); ask for less with -t")]
    Duration,
    /// The bytes that a client may send.
    #[error(
        "those are all the bytes that it grants a client (its --max-bytes); ask for less with -t or --rate"
    )]
    Bytes,
    /// The rate that a client may have.
    #[error(
        "its limit of rate (--max-rate) ends what is faster, and slows nothing down; send less with --rate or -m"
    )]
    Rate,
    /// The server was ended.
    #[error("it was told to end, or gave this client's place to another address (see its log)")]
    Ended,
    /// What it was asked for.
    #[error("it serves nothing of this kind; is it of the same version?")]
    Kind,
    /// No place for one more of this address.
    #[error("it serves as many clients of this address as one may have (its --max-clients-per-address)")]
    AddressBusy,
}

impl RefusalCode {
    const ALL: [Self; 10] = [
        Self::Unsaid,
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

    /// Its number over UDP.
    pub(crate) const fn code(self) -> u64 {
        self as u64
    }

    /// Of a number that is not known it is only known that it refuses.
    pub(crate) fn from_code(code: u64) -> Self {
        Self::ALL.into_iter().find(|refused| refused.code() == code).unwrap_or(Self::Unsaid)
    }

    /// What a client is told that is served no longer.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Limit("duration") => Self::Duration,
            Error::Limit("bytes") => Self::Bytes,
            Error::Limit("rate") => Self::Rate,
            Error::Stopped => Self::Ended,
            _ => Self::Unsaid,
        }
    }

    /// The bytes over TCP.
    pub(crate) fn encode(self) -> Vec<u8> {
        let (code, errno) = match self {
            Self::Busy => return vec![State::AccessDenied.byte()],
            Self::Address => (ErrorCode::AUTHORIZATION.0, NOT_ALLOWED),
            other => (OURS + other as i32, 0),
        };
        [&[State::ServerError.byte()][..], &code.to_be_bytes(), &errno.to_be_bytes()].concat()
    }

    /// Reads them; `None` of anything else.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (state, rest) = bytes.split_first()?;
        match State::from_byte(*state)? {
            State::AccessDenied => Some(Self::Busy),
            State::ServerError => Some(match rest.first_chunk().map(|code| i32::from_be_bytes(*code)) {
                Some(code) if code == ErrorCode::AUTHORIZATION.0 => Self::Address,
                // Whatever a server says: the difference may be out of bounds.
                Some(code) => Self::from_code(u64::try_from(code.saturating_sub(OURS)).unwrap_or(0)),
                None => Self::Unsaid,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_understood_over_udp_and_over_tcp() {
        for refused in RefusalCode::ALL {
            assert_eq!(RefusalCode::from_code(refused.code()), refused);
            assert_eq!(RefusalCode::decode(&refused.encode()), Some(refused));
            assert!(refused.encode().len() <= LONGEST);
        }
        assert_eq!(RefusalCode::from_code(77), RefusalCode::Unsaid);
        for code in [1, i32::MIN, i32::MAX] {
            let said = [&[0xfe][..], &code.to_be_bytes(), &[0; 4]].concat();
            assert_eq!(RefusalCode::decode(&said), Some(RefusalCode::Unsaid), "{code}");
        }
        assert_eq!(RefusalCode::decode(b"g"), None);
    }

    #[test]
    fn who_is_ended_by_a_limit_is_told_which() {
        for (error, expected) in [
            (Error::Limit("duration"), RefusalCode::Duration),
            (Error::Limit("bytes"), RefusalCode::Bytes),
            (Error::Limit("rate"), RefusalCode::Rate),
            (Error::Stopped, RefusalCode::Ended),
            (Error::Left, RefusalCode::Unsaid),
        ] {
            assert_eq!(RefusalCode::of(&error), expected, "{error}");
        }
    }
}

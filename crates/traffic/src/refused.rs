//! Reasons why a server refuses a client or stops serving it.
//!
//! Over UDP, the reason is a number in the greeting. Over TCP, it is an iperf3 state byte, usually followed by an error
//! number.

use codecs::iperf3::{ErrorCode, NOT_ALLOWED, State};
use strum::FromRepr;
use thiserror::Error;

pub(crate) const LONGEST: usize = 9;
/// plumb's own error numbers start here, above iperf3's.
const OURS: i32 = 9000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error, FromRepr)]
#[cfg_attr(test, derive(strum::VariantArray))]
#[repr(u64)]
pub enum RefusalCode {
    #[error(
        "it gave no reason; it may have a limit on time, bytes or rate, or it was stopped: check its output"
    )]
    Unspecified,
    #[error("it is busy with the maximum number of clients (--max-clients); try again later")]
    Busy,
    #[error("this address is not allowed (--allow); ask the server's operator to add it")]
    Address,
    #[error(
        "it requires authentication (--rsa-private-key-path), which pings do not support; use a server \
                 without it"
    )]
    Login,
    #[error("the time limit per client is reached (--max-duration); request less with -t")]
    Duration,
    #[error("the byte limit per client is reached (--max-bytes); request less with -t or --rate")]
    Bytes,
    #[error(
        "its rate limit (--max-rate) ends faster clients instead of slowing them down; send less with --rate or -m"
    )]
    Rate,
    #[error("it was stopped, or gave this client's slot to another address (see its log)")]
    Ended,
    #[error("it does not support this kind of workload; check that it has the same version")]
    Kind,
    #[error("it already serves the maximum number of clients from this address (--max-clients-per-address)")]
    AddressBusy,
}

impl RefusalCode {
    pub(crate) const fn code(self) -> u64 {
        self as u64
    }

    /// Treats an unknown number as an unspecified refusal.
    pub(crate) fn from_code(code: u64) -> Self {
        Self::from_repr(code).unwrap_or(Self::Unspecified)
    }

    pub(crate) fn encode(self) -> Vec<u8> {
        let (code, errno) = match self {
            Self::Busy => return vec![State::AccessDenied.byte()],
            Self::Address => (ErrorCode::AUTHORIZATION.0, NOT_ALLOWED),
            other => (OURS + other as i32, 0),
        };
        [&[State::ServerError.byte()][..], &code.to_be_bytes(), &errno.to_be_bytes()].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (state, rest) = bytes.split_first()?;
        match State::from_byte(*state)? {
            State::AccessDenied => Some(Self::Busy),
            State::ServerError => Some(match rest.first_chunk().map(|code| i32::from_be_bytes(*code)) {
                Some(code) if code == ErrorCode::AUTHORIZATION.0 => Self::Address,
                // A peer may send any number, so an ordinary subtraction might overflow.
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
        for refused in <RefusalCode as strum::VariantArray>::VARIANTS {
            let refused = *refused;
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
}

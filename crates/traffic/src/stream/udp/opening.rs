//! What is said before a stream of datagrams.
//!
//! The client greets with its handshake; the server answers with the same and a cookie; the client begins by
//! saying that back, so that only an address that hears its server is ever sent a stream; the receiving
//! server echoes it. Layout: handshake (32), cookie (8, big endian; zero in a greeting), which makes answers no
//! longer than what they answer. Pure: bytes in, values out.

use crate::handshake::{self, Handshake};

pub(super) const LENGTH: usize = handshake::LENGTH + 8;

/// A handshake, and what the server wants to hear again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    pub(super) handshake: Handshake,
    pub(super) cookie: u64,
}

impl Opening {
    pub(super) fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (said, cookie) = bytes.split_at_mut(handshake::LENGTH);
        said.copy_from_slice(&self.handshake.encode());
        cookie.copy_from_slice(&self.cookie.to_be_bytes());
        bytes
    }

    /// `None` for anything else, at a glance where its length is another.
    #[inline]
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (said, cookie) = bytes.split_first_chunk::<{ handshake::LENGTH }>()?;
        let cookie = u64::from_be_bytes(cookie.try_into().ok()?);
        Some(Self { handshake: Handshake::decode(said)?, cookie })
    }

    /// Whether this is how a client asks for a cookie.
    pub(super) const fn is_greeting(&self) -> bool {
        self.cookie == 0
    }

    /// The greeting that this one answers.
    pub(super) const fn greeting(self) -> Self {
        Self { cookie: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::Purpose;

    #[test]
    fn what_was_encoded_is_decoded_and_nothing_of_another_length() {
        let handshake = Handshake { token: 7, purpose: Purpose::DatagramsReverse, number: 3 };
        let opening = Opening { handshake, cookie: 0x0102_0304_0506_0708 };
        let bytes = opening.encode();
        assert_eq!(Opening::decode(&bytes), Some(opening));
        assert!(!opening.is_greeting() && opening.greeting().is_greeting());
        assert_eq!(Opening::decode(&bytes[..LENGTH - 1]), None);
        assert_eq!(Opening::decode(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(Opening::decode(&[0; LENGTH]), None);
    }
}

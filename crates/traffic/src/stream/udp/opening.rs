//! The handshake of a datagram stream.
//!
//! The client sends a greeting, the server echoes it with a cookie, and the client returns the cookie to start. A
//! stream is therefore only ever sent to an address that receives the server's datagrams. A message contains the
//! handshake (32 bytes) and the big-endian cookie (8 bytes). The cookie in a greeting is zero.

use crate::handshake::{self, Handshake};

pub(super) const LENGTH: usize = handshake::LENGTH + 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    pub(super) handshake: Handshake,
    pub(super) cookie: u64,
}

impl Opening {
    pub(super) fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (handshake_bytes, cookie) = bytes.split_at_mut(handshake::LENGTH);
        handshake_bytes.copy_from_slice(&self.handshake.encode());
        cookie.copy_from_slice(&self.cookie.to_be_bytes());
        bytes
    }

    #[inline]
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (handshake_bytes, cookie) = bytes.split_first_chunk::<{ handshake::LENGTH }>()?;
        let cookie = u64::from_be_bytes(cookie.try_into().ok()?);
        Some(Self { handshake: Handshake::decode(handshake_bytes)?, cookie })
    }

    pub(super) const fn is_greeting(&self) -> bool {
        self.cookie == 0
    }

    pub(super) const fn greeting(self) -> Self {
        Self { cookie: 0, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::Purpose;

    #[test]
    fn opening_round_trips_and_rejects_other_lengths() {
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

//! What is said before messages over UDP: four greetings, so that a server serves only addresses that hear it.
//!
//! The client asks; the server offers a cookie; the client proves with it that it hears what is sent to its
//! address; the server welcomes it. A server answers what a client says and nothing else, with as many bytes: two
//! servers have nothing to say to each other, and an answer is never answered. Layout, big endian: handshake (32),
//! kind (4), cookie (8; zero where there is none; the reason of one that refuses). Bytes, addresses and time are
//! handed in.

use std::{
    hash::{BuildHasher, RandomState},
    net::SocketAddr,
};

use units::Nanos;

use crate::{
    handshake::{self, Handshake},
    refused::RefusalCode,
};

pub(crate) const LENGTH: usize = handshake::LENGTH + 4 + 8;
/// A cookie is good for as long as this, and up to twice as long.
const SLOT: Nanos = Nanos::from_secs(10);

/// Who says what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GreetingKind {
    /// A client wants to be served.
    Asks,
    /// A server wants the cookie back.
    Offers,
    /// A client returns it.
    Proves,
    /// A server serves.
    Welcomes,
    /// A server will not.
    Refuses,
}

/// One of these datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    pub handshake: Handshake,
    pub kind: GreetingKind,
    pub cookie: u64,
}

impl GreetingKind {
    const ALL: [Self; 5] = [Self::Asks, Self::Offers, Self::Proves, Self::Welcomes, Self::Refuses];

    const fn code(self) -> u32 {
        self as u32 + 1
    }

    fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl Greeting {
    /// With which a client begins.
    pub const fn asking(handshake: Handshake) -> Self {
        Self { handshake, kind: GreetingKind::Asks, cookie: 0 }
    }

    /// The same client, another word.
    pub const fn with(self, kind: GreetingKind) -> Self {
        Self { kind, ..self }
    }

    /// A server's answer to the same client: that it is not served, and why.
    pub const fn refusing(self, because: RefusalCode) -> Self {
        Self { cookie: because.code(), ..self.with(GreetingKind::Refuses) }
    }

    /// Why the server refuses, if that is what it says.
    pub(crate) fn refused(self) -> Option<RefusalCode> {
        (self.kind == GreetingKind::Refuses).then(|| RefusalCode::from_code(self.cookie))
    }

    pub fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..handshake::LENGTH].copy_from_slice(&self.handshake.encode());
        bytes[32..36].copy_from_slice(&self.kind.code().to_be_bytes());
        bytes[36..].copy_from_slice(&self.cookie.to_be_bytes());
        bytes
    }

    /// `None` for anything else, at a glance where its length is another.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let (said, rest) = bytes.split_first_chunk::<{ handshake::LENGTH }>()?;
        let (kind, cookie) = rest.split_first_chunk::<4>()?;
        let cookie = u64::from_be_bytes(cookie.try_into().ok()?);
        let kind = GreetingKind::from_code(u32::from_be_bytes(*kind))?;
        Some(Self { handshake: Handshake::decode(said)?, kind, cookie })
    }
}

/// Makes cookies and knows its own again, without remembering any.
#[derive(Debug, Default)]
pub struct Cookies(RandomState);

impl Cookies {
    /// The answer to who asks, or returns what is no cookie.
    pub fn offer(&self, said: Greeting, peer: SocketAddr, now: u64) -> Greeting {
        Greeting { cookie: self.cookie(said, peer, now / SLOT.0), ..said.with(GreetingKind::Offers) }
    }

    /// Whether `said` returns what was offered to `peer` a short time ago.
    pub fn know(&self, said: Greeting, peer: SocketAddr, now: u64) -> bool {
        let slot = now / SLOT.0;
        let good = |slot| said.cookie == self.cookie(said, peer, slot);
        said.kind == GreetingKind::Proves && (good(slot) || slot.checked_sub(1).is_some_and(good))
    }

    fn cookie(&self, said: Greeting, peer: SocketAddr, slot: u64) -> u64 {
        self.0.hash_one((peer, said.handshake.encode(), slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::Purpose;

    const ASKS: Greeting = Greeting::asking(Handshake { token: 7, purpose: Purpose::PingPong, number: 0 });

    fn peer(port: u16) -> SocketAddr {
        SocketAddr::from(([198, 18, 0, 1], port))
    }

    #[test]
    fn what_was_encoded_is_decoded_and_nothing_of_another_length() {
        for kind in GreetingKind::ALL {
            let greeting = Greeting { cookie: 0x0102_0304_0506_0708, ..ASKS.with(kind) };
            let bytes = greeting.encode();
            assert_eq!(Greeting::decode(&bytes), Some(greeting));
            assert_eq!(Greeting::decode(&bytes[..LENGTH - 1]), None);
            assert_eq!(Greeting::decode(&[&bytes[..], &[0]].concat()), None);
        }
        let mut bytes = ASKS.encode();
        bytes[35] = 6;
        assert_eq!(Greeting::decode(&bytes), None);
        assert_eq!(Greeting::decode(&ASKS.handshake.encode()), None);
    }

    #[test]
    fn a_cookie_is_good_for_its_peer_and_its_handshake_and_for_a_short_time() {
        let cookies = Cookies::default();
        let now = 5 * SLOT.0;
        let offer = cookies.offer(ASKS, peer(1), now);
        assert_eq!(offer.kind, GreetingKind::Offers);
        let proof = offer.with(GreetingKind::Proves);
        assert!(cookies.know(proof, peer(1), now) && cookies.know(proof, peer(1), now + SLOT.0));
        assert!(!cookies.know(proof, peer(1), now + 2 * SLOT.0), "old");
        assert!(!cookies.know(proof, peer(2), now), "another peer's");
        assert!(!cookies.know(offer, peer(1), now), "an offer proves nothing");
        assert!(!cookies.know(Greeting { cookie: proof.cookie ^ 1, ..proof }, peer(1), now));
        let other = Handshake { token: 8, ..proof.handshake };
        assert!(!cookies.know(Greeting { handshake: other, ..proof }, peer(1), now), "another token");
        assert!(!Cookies::default().know(proof, peer(1), now), "another server's");
    }
}

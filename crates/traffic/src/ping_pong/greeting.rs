//! Greetings precede UDP messages and verify that the client receives datagrams at its address.
//!
//! The client asks, the server offers a cookie, the client returns the cookie, and the server welcomes the client.
//! Servers reply only to clients, with datagrams of the same length, so two servers can never reply to each other. The
//! fields are big endian: handshake (32 bytes), kind (4 bytes) and cookie (8 bytes). A refusal contains the reason
//! instead of a cookie. An unused cookie is zero.

use std::{
    hash::{BuildHasher, RandomState},
    net::SocketAddr,
};

use strum::FromRepr;
use units::Nanos;

use crate::{
    handshake::{self, Handshake},
    refused::RefusalCode,
};

pub(crate) const LENGTH: usize = handshake::LENGTH + 4 + 8;
const SLOT: Nanos = Nanos::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr)]
#[cfg_attr(test, derive(strum::VariantArray))]
#[repr(u32)]
pub enum GreetingKind {
    Asks = 1,
    Offers,
    Proves,
    Welcomes,
    Refuses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    pub handshake: Handshake,
    pub kind: GreetingKind,
    pub cookie: u64,
}

impl Greeting {
    pub const fn asking(handshake: Handshake) -> Self {
        Self { handshake, kind: GreetingKind::Asks, cookie: 0 }
    }

    pub const fn with(self, kind: GreetingKind) -> Self {
        Self { kind, ..self }
    }

    pub const fn refusing(self, reason: RefusalCode) -> Self {
        Self { cookie: reason.code(), ..self.with(GreetingKind::Refuses) }
    }

    pub(crate) fn refused(self) -> Option<RefusalCode> {
        (self.kind == GreetingKind::Refuses).then(|| RefusalCode::from_code(self.cookie))
    }

    pub fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..handshake::LENGTH].copy_from_slice(&self.handshake.encode());
        bytes[32..36].copy_from_slice(&(self.kind as u32).to_be_bytes());
        bytes[36..].copy_from_slice(&self.cookie.to_be_bytes());
        bytes
    }

    #[inline]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let (greeting, rest) = bytes.split_first_chunk::<{ handshake::LENGTH }>()?;
        let (kind, cookie) = rest.split_first_chunk::<4>()?;
        let cookie = u64::from_be_bytes(cookie.try_into().ok()?);
        let kind = GreetingKind::from_repr(u32::from_be_bytes(*kind))?;
        Some(Self { handshake: Handshake::decode(greeting)?, kind, cookie })
    }
}

/// Computes and verifies cookies, so that the server need not store them.
#[derive(Debug, Default)]
pub struct Cookies(RandomState);

impl Cookies {
    pub fn offer(&self, greeting: Greeting, peer: SocketAddr, now: u64) -> Greeting {
        Greeting { cookie: self.cookie(greeting, peer, now / SLOT.0), ..greeting.with(GreetingKind::Offers) }
    }

    pub fn know(&self, greeting: Greeting, peer: SocketAddr, now: u64) -> bool {
        let slot = now / SLOT.0;
        let good = |slot| greeting.cookie == self.cookie(greeting, peer, slot);
        greeting.kind == GreetingKind::Proves && (good(slot) || slot.checked_sub(1).is_some_and(good))
    }

    fn cookie(&self, greeting: Greeting, peer: SocketAddr, slot: u64) -> u64 {
        self.0.hash_one((peer, greeting.handshake.encode(), slot))
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
    fn greeting_round_trips_and_rejects_other_lengths() {
        for kind in <GreetingKind as strum::VariantArray>::VARIANTS {
            let greeting = Greeting { cookie: 0x0102_0304_0506_0708, ..ASKS.with(*kind) };
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
    fn cookie_is_valid_only_for_its_peer_and_handshake_for_a_short_time() {
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

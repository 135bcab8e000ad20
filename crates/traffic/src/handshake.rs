//! The 32-byte handshake that starts a connection or a greeting.
//!
//! Big-endian fields and their lengths in bytes: magic (8), token (8), version (4), purpose (4), number (4), zero (4).

use strum::FromRepr;
use workload::{Direction, Transport};

pub const LENGTH: usize = 32;
pub(crate) const TOKEN: std::ops::Range<usize> = 8..16;
pub const GO: u8 = b'g';

pub const MAGIC: [u8; 8] = *b"plumbtrf";
const VERSION: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, FromRepr)]
#[repr(u32)]
pub enum Purpose {
    Forward = 1,
    Reverse,
    PingPong,
    /// A path MTU probe. Its datagrams are not fragmented in either direction.
    Probe,
    Connect,
    DatagramsForward,
    DatagramsReverse,
}

impl Purpose {
    pub(crate) const fn of(direction: Direction, transport: Transport) -> Self {
        match (direction, transport) {
            (Direction::Reverse, Transport::Tcp) => Self::Reverse,
            (Direction::Forward | Direction::Both, Transport::Tcp) => Self::Forward,
            (Direction::Reverse, Transport::Udp) => Self::DatagramsReverse,
            (Direction::Forward | Direction::Both, Transport::Udp) => Self::DatagramsForward,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    pub token: u64,
    pub purpose: Purpose,
    pub number: u32,
}

impl Handshake {
    pub fn encode(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[TOKEN].copy_from_slice(&self.token.to_be_bytes());
        bytes[16..20].copy_from_slice(&VERSION.to_be_bytes());
        bytes[20..24].copy_from_slice(&(self.purpose as u32).to_be_bytes());
        bytes[24..28].copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<8>()?;
        let (token, rest) = rest.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let (purpose, rest) = rest.split_first_chunk::<4>()?;
        let (number, rest) = rest.split_first_chunk::<4>()?;
        let known = *magic == MAGIC && u32::from_be_bytes(*version) == VERSION && rest == [0; 4];
        let purpose = Purpose::from_repr(u32::from_be_bytes(*purpose))?;
        let (token, number) = (u64::from_be_bytes(*token), u32::from_be_bytes(*number));
        known.then_some(Self { token, purpose, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETING: Handshake =
        Handshake { token: 0x0102_0304_0506_0708, purpose: Purpose::Reverse, number: 77 };

    #[test]
    fn handshake_round_trips() {
        for code in 1..=7 {
            let purpose = Purpose::from_repr(code).expect("a purpose");
            let handshake = Handshake { purpose, ..GREETING };
            assert_eq!(Handshake::decode(&handshake.encode()), Some(handshake));
        }
        assert!(Purpose::from_repr(0).is_none() && Purpose::from_repr(8).is_none());
        assert_eq!(GREETING.encode()[TOKEN], [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn rejects_changes_outside_token_and_number() {
        let good = GREETING.encode();
        for place in (0..LENGTH).filter(|place| !TOKEN.contains(place) && !(24..28).contains(place)) {
            let mut bad = good;
            bad[place] ^= 0x40;
            assert_eq!(Handshake::decode(&bad), None, "byte {place}");
        }
        assert_eq!(Handshake::decode(&good[..31]), None);
        assert_eq!(Handshake::decode(&[&good[..], &[0]].concat()), None);
    }
}

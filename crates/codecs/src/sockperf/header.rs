//! The 14-byte message header (src/message.h), and how to distinguish it from other protocols.

use std::ops::BitOr;

/// Length of the longest message: the maximum payload of a UDP datagram over IPv4. A stock server resets a TCP
/// connection that announces a longer message.
pub const MAX_MESSAGE: usize = 65_507;

/// A message header: three big-endian fields of 8, 2 and 4 bytes, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Starts at 1. Warm-up messages have 0.
    pub sequence: u64,
    pub flags: Flags,
    pub length: u32,
}

/// Unknown bits are preserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Header {
    pub const SIZE: usize = 14;

    #[inline]
    #[must_use]
    pub fn read(message: &[u8]) -> Option<Self> {
        let (sequence, rest) = message.split_first_chunk()?;
        let (flags, rest) = rest.split_first_chunk()?;
        let length = rest.first_chunk()?;
        Some(Self {
            sequence: u64::from_be_bytes(*sequence),
            flags: Flags(u16::from_be_bytes(*flags)),
            length: u32::from_be_bytes(*length),
        })
    }

    #[inline]
    pub fn write(self, message: &mut [u8]) {
        message[..8].copy_from_slice(&self.sequence.to_be_bytes());
        message[8..10].copy_from_slice(&self.flags.0.to_be_bytes());
        message[10..Self::SIZE].copy_from_slice(&self.length.to_be_bytes());
    }

    #[inline]
    #[must_use]
    pub fn message_length(self) -> Option<usize> {
        let length = self.length as usize;
        (Self::SIZE..=MAX_MESSAGE).contains(&length).then_some(length)
    }
}

impl Flags {
    /// Set by clients, and cleared in a server's reply.
    pub const CLIENT: Self = Self(1);
    pub const PONG: Self = Self(2);
    /// The server neither returns nor counts the message.
    pub const WARM_UP: Self = Self(4);

    const KNOWN: Self = Self(7);

    #[inline]
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    #[inline]
    #[must_use]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Returns whether the bytes may come from a sockperf client. Rejects text by its first byte, because the first byte of
/// a sequence number stays zero for years.
#[must_use]
pub fn may_begin(bytes: &[u8]) -> bool {
    let Some(header) = Header::read(bytes) else { return may_begin_in_part(bytes) };
    header.sequence >> 48 == 0
        && header.flags.has(Flags::CLIENT)
        && header.flags.without(Flags::KNOWN) == Flags(0)
        && header.message_length().is_some()
}

fn may_begin_in_part(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(place, byte)| match place {
        0 | 1 | 8 | 10 | 11 => *byte == 0,
        9 => *byte & 1 == 1 && *byte <= 7,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rejects_other_protocols_by_first_bytes() {
        let good = [0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 14];
        assert!((0..=good.len()).all(|cut| may_begin(&good[..cut])));
        assert!(may_begin(&[&good[..], b"payload"].concat()));
        for stranger in [&b"plumbtrf"[..], b"abcdefg", b"GET / HTTP/1.1", b"9876", b"\x16\x03\x01"] {
            assert!((1..=stranger.len()).all(|cut| !may_begin(&stranger[..cut])), "{stranger:?}");
        }
        // A sequence number of at least 2^48, a missing client flag, unknown flags, and lengths of 13, 65,508 and
        // more.
        for (place, byte) in [(1, 1), (9, 2), (9, 9), (8, 1), (13, 13), (10, 1), (11, 1)] {
            let mut bad = good;
            bad[place] = byte;
            assert!(!may_begin(&bad), "{place}: {byte}");
        }
        for (length, may) in [(65_507_u32, true), (65_508, false)] {
            let mut message = good;
            message[10..].copy_from_slice(&length.to_be_bytes());
            assert_eq!(may_begin(&message), may, "{length}");
        }
    }

    proptest! {
        #[test]
        fn header_round_trips(sequence: u64, flags: u16, length: u32) {
            let header = Header { sequence, flags: Flags(flags), length };
            let mut message = [0xee; 20];
            header.write(&mut message);
            prop_assert_eq!(Header::read(&message), Some(header));
            prop_assert_eq!(Header::read(&message[..14]), Some(header));
            prop_assert_eq!(Header::read(&message[..13]), None);
            prop_assert_eq!(message[14..].to_vec(), vec![0xee; 6]);
        }

        #[test]
        fn rejects_prefix_only_if_whole_is_rejected(bytes: [u8; 14], like: bool) {
            let mut bytes = bytes;
            if like {
                bytes[..2].fill(0);
                let flags = bytes[9] & 7 | 1;
                bytes[8..12].copy_from_slice(&[0, flags, 0, 0]);
            }
            let parts = (0..=14).map(|cut| may_begin(&bytes[..cut])).collect::<Vec<_>>();
            prop_assert!(parts.is_sorted_by(|before, after| before >= after), "{:?}", parts);
        }
    }
}

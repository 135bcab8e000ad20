//! The header of UDP test datagrams, and the handshake of a UDP stream (iperf_udp.c).

/// Set by `--udp-counters-64bit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterWidth {
    Bits32,
    Bits64,
}

/// All fields are big-endian, and the time is from the sender's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpHeader {
    pub seconds: u32,
    /// Microseconds.
    pub micros: u32,
    pub counter: u64,
}

/// A request to start a UDP stream, in the client's byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connect {
    /// `9876` on the wire, since version 3.11.
    Text,
    /// The number 123456789, before version 3.11.
    Legacy,
}

impl CounterWidth {
    /// Length in bytes.
    #[must_use]
    pub const fn header(self) -> usize {
        match self {
            Self::Bits32 => 12,
            Self::Bits64 => 16,
        }
    }
}

impl UdpHeader {
    /// As in iperf3, a 32-bit counter holds the lower half of the number. Panics if the datagram is shorter than the
    /// header.
    #[inline]
    pub fn write(self, width: CounterWidth, datagram: &mut [u8]) {
        datagram[..4].copy_from_slice(&self.seconds.to_be_bytes());
        datagram[4..8].copy_from_slice(&self.micros.to_be_bytes());
        match width {
            CounterWidth::Bits32 => datagram[8..12].copy_from_slice(&(self.counter as u32).to_be_bytes()),
            CounterWidth::Bits64 => datagram[8..16].copy_from_slice(&self.counter.to_be_bytes()),
        }
    }

    #[must_use]
    #[inline]
    pub fn read(width: CounterWidth, datagram: &[u8]) -> Option<Self> {
        let (seconds, rest) = datagram.split_first_chunk()?;
        let (micros, rest) = rest.split_first_chunk()?;
        let counter = match width {
            CounterWidth::Bits32 => u64::from(u32::from_be_bytes(*rest.first_chunk()?)),
            CounterWidth::Bits64 => u64::from_be_bytes(*rest.first_chunk()?),
        };
        Some(Self { seconds: u32::from_be_bytes(*seconds), micros: u32::from_be_bytes(*micros), counter })
    }
}

impl Connect {
    const LEGACY: u32 = 123_456_789;
    const LEGACY_REPLY: u32 = 987_654_321;

    #[must_use]
    pub const fn request(self) -> [u8; 4] {
        match self {
            Self::Text => *b"9876",
            Self::Legacy => Self::LEGACY.to_le_bytes(),
        }
    }

    #[must_use]
    pub fn parse_request(datagram: &[u8]) -> Option<Self> {
        Self::parse(datagram, *b"9876", Self::LEGACY)
    }

    #[must_use]
    pub const fn reply(self) -> [u8; 4] {
        match self {
            Self::Text => *b"6789",
            Self::Legacy => Self::LEGACY_REPLY.to_le_bytes(),
        }
    }

    #[must_use]
    pub fn parse_reply(datagram: &[u8]) -> Option<Self> {
        Self::parse(datagram, *b"6789", Self::LEGACY_REPLY)
    }

    fn parse(datagram: &[u8], text: [u8; 4], legacy: u32) -> Option<Self> {
        let word = <[u8; 4]>::try_from(datagram).ok()?;
        if word == text {
            Some(Self::Text)
        } else {
            (word == legacy.to_le_bytes() || word == legacy.to_be_bytes()).then_some(Self::Legacy)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distinguishes_requests_and_replies_of_all_versions() {
        for word in [Connect::Text, Connect::Legacy] {
            assert_eq!(Connect::parse_request(&word.request()), Some(word));
            assert_eq!(Connect::parse_reply(&word.reply()), Some(word));
            assert_eq!(Connect::parse_request(&word.reply()), None);
            assert_eq!(Connect::parse_reply(&word.request()), None);
        }
        assert_eq!(Connect::parse_request(&[0x07, 0x5b, 0xcd, 0x15]), Some(Connect::Legacy), "big endian");
        assert_eq!(Connect::parse_request(b"98765"), None);
    }

    proptest! {
        #[test]
        fn header_round_trips(seconds: u32, micros: u32, counter: u64) {
            for width in [CounterWidth::Bits32, CounterWidth::Bits64] {
                let counter = if width == CounterWidth::Bits32 { counter & 0xffff_ffff } else { counter };
                let header = UdpHeader { seconds, micros, counter };
                let mut datagram = [0xee; 20];
                header.write(width, &mut datagram);
                prop_assert_eq!(UdpHeader::read(width, &datagram), Some(header));
                prop_assert_eq!(UdpHeader::read(width, &datagram[..width.header()]), Some(header));
                prop_assert_eq!(UdpHeader::read(width, &datagram[..width.header() - 1]), None);
                prop_assert!(datagram[width.header()..].iter().all(|byte| *byte == 0xee));
            }
        }
    }
}

//! The header of a stream's datagrams, as in iperf3.
//!
//! All fields are big endian: seconds and microseconds of the sender's clock (4 bytes each), then the number (4 or 8
//! bytes), which starts at 1. plumb ends a stream with a header-only datagram. The highest bit of its number is set,
//! and the rest is the number of datagrams sent.

use codecs::iperf3::{CounterWidth, UdpHeader};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramFormat {
    /// 32-bit counters, which wrap around. iperf3's default.
    Counter32,
    /// 64-bit counters, as with iperf3's `--udp-counters-64bit`. Plumb itself uses these.
    Counter64,
}

/// `sent` is the sender's clock in nanoseconds, except in `Closing`, where it is the number of datagrams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    Data { number: u64, sent: u64 },
    Closing { sent: u64 },
}

const CLOSING: u64 = 1 << 63;

impl DatagramFormat {
    pub const fn head(self) -> usize {
        self.width().header()
    }

    const fn width(self) -> CounterWidth {
        match self {
            Self::Counter32 => CounterWidth::Bits32,
            Self::Counter64 => CounterWidth::Bits64,
        }
    }

    #[inline]
    pub(super) fn write(self, datagram: &mut [u8], number: u64, now: u64) {
        let (seconds, micros) = (now / 1_000_000_000, now % 1_000_000_000 / 1000);
        let head = UdpHeader { seconds: seconds as u32, micros: micros as u32, counter: number };
        head.write(self.width(), datagram);
    }

    pub(super) fn closing(sent: u64) -> [u8; Self::Counter64.head()] {
        let mut datagram = [0; Self::Counter64.head()];
        Self::Counter64.write(&mut datagram, CLOSING | sent, 0);
        datagram
    }

    #[inline]
    pub(super) fn read(self, datagram: &[u8]) -> Option<Head> {
        let UdpHeader { seconds, micros, counter: number } = UdpHeader::read(self.width(), datagram)?;
        if number & CLOSING != 0 {
            let closing = datagram.len() == self.head();
            return closing.then_some(Head::Closing { sent: number & !CLOSING });
        }
        let sent = u64::from(seconds) * 1_000_000_000 + u64::from(micros) * 1000;
        Some(Head::Data { number, sent })
    }

    /// Expands a truncated counter to the value closest to `highest`, the highest number so far.
    #[inline]
    pub(super) const fn whole(self, number: u64, highest: u64) -> u64 {
        match self {
            Self::Counter64 => number,
            Self::Counter32 => {
                let ahead = (number as u32).wrapping_sub(highest as u32).cast_signed();
                highest.saturating_add_signed(ahead as i64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_has_iperf3s_layout() {
        let mut datagram = [0xFF; 20];
        DatagramFormat::Counter64.write(&mut datagram, 0x0102_0304_0506_0708, 5_000_123_999);
        assert_eq!(datagram[..16], [0, 0, 0, 5, 0, 0, 0, 123, 1, 2, 3, 4, 5, 6, 7, 8]);
        DatagramFormat::Counter32.write(&mut datagram, 0x0506_0708, 1_000_000);
        assert_eq!(datagram[..12], [0, 0, 0, 0, 0, 0, 3, 232, 5, 6, 7, 8]);
        assert_eq!(datagram[16..], [0xFF; 4]);
    }

    #[test]
    fn header_round_trips() {
        for format in [DatagramFormat::Counter32, DatagramFormat::Counter64] {
            let mut datagram = vec![0; 100];
            format.write(&mut datagram, 77, 9_000_001_000);
            let data = Head::Data { number: 77, sent: 9_000_001_000 };
            assert_eq!(format.read(&datagram), Some(data));
            assert_eq!(format.read(&datagram[..format.head()]), Some(data));
            assert_eq!(format.read(&datagram[..format.head() - 1]), None);
        }
    }

    #[test]
    fn closing_datagram_is_a_header_alone() {
        let closing = DatagramFormat::closing(1_000_000);
        assert_eq!(DatagramFormat::Counter64.read(&closing), Some(Head::Closing { sent: 1_000_000 }));
        assert_eq!(DatagramFormat::Counter64.read(&[&closing[..], &[0]].concat()), None);
    }

    #[test]
    fn wrapped_number_is_the_nearest() {
        let round = 1_u64 << 32;
        for (number, highest, whole) in [
            (5, 3, 5),
            (3, 5, 3),
            (1, round - 1, round + 1),
            (u64::from(u32::MAX), round + 2, round - 1),
            (7, 3 * round + 6, 3 * round + 7),
            (u64::from(u32::MAX), 0, 0),
        ] {
            assert_eq!(DatagramFormat::Counter32.whole(number, highest), whole, "{number} after {highest}");
        }
        assert_eq!(DatagramFormat::Counter64.whole(round + 1, 5), round + 1);
    }
}

//! Detects a peer's protocol from its first bytes. Performs no I/O.

use codecs::{
    iperf3::{Connect, Cookie},
    sockperf::{self, Header},
};
use traffic::{
    handshake::{self, Handshake, MAGIC},
    ping_pong::Greeting,
};

pub(super) const LONGEST: usize = Cookie::SIZE;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    More(usize),
    Iperf3(Cookie),
    Native(Handshake),
    Sockperf,
    /// The protocol is unknown, and further bytes would not identify it.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Datagram {
    Iperf3(Connect),
    Native(Greeting),
    Other,
}

pub(super) fn of_stream(bytes: &[u8]) -> Opening {
    let native = MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]);
    if native && bytes.len() >= handshake::LENGTH {
        return Handshake::decode(&bytes[..handshake::LENGTH]).map_or(Opening::Unknown, Opening::Native);
    }
    if let Some(Some(cookie)) = bytes.first_chunk().map(Cookie::parse) {
        return Opening::Iperf3(cookie);
    }
    let sockperf = sockperf::may_begin(bytes);
    if sockperf && bytes.len() >= Header::SIZE {
        return Opening::Sockperf;
    }
    let possible =
        [(native, handshake::LENGTH), (sockperf, Header::SIZE), (Cookie::may_begin(bytes), Cookie::SIZE)];
    let needed = possible.iter().filter(|(possible, length)| *possible && *length > bytes.len());
    needed.map(|(_, length)| *length).min().map_or(Opening::Unknown, Opening::More)
}

pub(super) fn of_datagram(bytes: &[u8]) -> Datagram {
    if let Some(word) = Connect::parse_request(bytes) {
        return Datagram::Iperf3(word);
    }
    Greeting::decode(bytes).map_or(Datagram::Other, Datagram::Native)
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::handshake::Purpose;

    const GREETING: Handshake = Handshake { token: 0, purpose: Purpose::PingPong, number: 0 };
    const PING: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 14];

    fn check(bytes: &[u8], expected: Opening) {
        for cut in 0..bytes.len() {
            let Opening::More(upto) = of_stream(&bytes[..cut]) else {
                panic!("{cut} bytes sufficed: {:?}", of_stream(&bytes[..cut]))
            };
            assert!((cut + 1..=bytes.len()).contains(&upto), "{cut}: {upto}");
        }
        assert_eq!(of_stream(bytes), expected);
    }

    #[test]
    fn detects_protocols_by_their_opening() {
        let cookie = Cookie::from_entropy(std::array::from_fn(|n| n as u8));
        check(cookie.as_bytes(), Opening::Iperf3(cookie));
        check(&GREETING.encode(), Opening::Native(GREETING));
        check(&PING, Opening::Sockperf);
    }

    #[test]
    fn rejects_unknown_protocol_as_early_as_possible() {
        let mut old = GREETING.encode();
        old[19] = 99;
        let mut huge = PING;
        huge[10] = 1;
        for (bytes, expected) in [
            (&b"GET / HTTP/1.1\r\n\r\n"[..], Opening::Unknown),
            (b"\x16\x03\x01", Opening::Unknown),
            (&[b'a'; 37], Opening::Unknown),
            (&old, Opening::Unknown),
            (&huge, Opening::Unknown),
            (&[0; 14], Opening::Unknown),
            (&[], Opening::More(Header::SIZE)),
            (&[0], Opening::More(Header::SIZE)),
            (b"plumb", Opening::More(handshake::LENGTH)),
            (b"plumc", Opening::More(Cookie::SIZE)),
        ] {
            assert_eq!(of_stream(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn classifies_datagrams() {
        for (bytes, expected) in [
            (&b"9876"[..], Datagram::Iperf3(Connect::Text)),
            (&Greeting::asking(GREETING).encode(), Datagram::Native(Greeting::asking(GREETING))),
            (&GREETING.encode(), Datagram::Other),
            (&PING, Datagram::Other),
            (b"", Datagram::Other),
        ] {
            assert_eq!(of_datagram(bytes), expected, "{bytes:?}");
        }
    }
}

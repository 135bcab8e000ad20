//! A server returns each message that it received (src/server.h, `server_receive_then_send`), but clears one bit so
//! that the reply causes no further reply.

use super::{Flags, Header, may_begin};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Send the same bytes back.
    Answer,
    Silence,
    Ignored,
    Stranger,
}

#[inline]
#[must_use]
pub fn answer(message: &mut [u8]) -> Reply {
    let Some(header) = Header::read(message) else { return Reply::Stranger };
    if header.message_length() != Some(message.len()) {
        return Reply::Stranger;
    }
    if !header.flags.has(Flags::CLIENT) || header.flags.has(Flags::WARM_UP) {
        return Reply::Ignored;
    }
    if !header.flags.has(Flags::PONG) {
        return Reply::Silence;
    }
    Header { flags: header.flags.without(Flags::CLIENT), ..header }.write(message);
    Reply::Answer
}

/// Returns [`Reply::Stranger`] for anything that a sockperf client would not send.
#[inline]
#[must_use]
pub fn answer_datagram(datagram: &mut [u8]) -> Reply {
    if may_begin(datagram) { answer(datagram) } else { Reply::Stranger }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(flags: u16, length: u32, size: usize) -> Vec<u8> {
        let mut bytes = vec![0x5a; size];
        Header { sequence: 7, flags: Flags(flags), length }.write(&mut bytes);
        bytes
    }

    #[test]
    fn replies_only_on_request_of_a_client() {
        let expected = [
            (0, Reply::Ignored),
            (1, Reply::Silence),
            (2, Reply::Ignored),
            (3, Reply::Answer),
            (5, Reply::Ignored),
            (7, Reply::Ignored),
            (0xff03, Reply::Answer),
        ];
        for (flags, reply) in expected {
            let mut asked = message(flags, 20, 20);
            let before = asked.clone();
            assert_eq!(answer(&mut asked), reply, "{flags}");
            assert_eq!(asked == before, reply != Reply::Answer, "{flags}");
        }
    }

    #[test]
    fn rejects_datagram_of_wrong_length() {
        for (length, size) in [(20, 19), (20, 21), (13, 14), (0, 14), (65_508, 65_508), (u32::MAX, 14)] {
            assert_eq!(answer_datagram(&mut message(3, length, size)), Reply::Stranger, "{length} {size}");
        }
        assert_eq!(answer_datagram(&mut message(0x0103, 20, 20)), Reply::Stranger, "unknown flag");
        assert_eq!(answer_datagram(&mut message(2, 20, 20)), Reply::Stranger, "an answer");
        assert_eq!(answer_datagram(&mut message(3, 65_507, 65_507)), Reply::Answer);
        assert_eq!(answer_datagram(&mut []), Reply::Stranger);
    }

    proptest! {
        #[test]
        fn reply_differs_by_one_bit_and_gets_no_reply(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
            like: bool,
        ) {
            if like && bytes.len() >= Header::SIZE {
                let header = Header::read(&bytes).expect("long enough");
                Header { length: bytes.len() as u32, ..header }.write(&mut bytes);
            }
            let before = bytes.clone();
            let reply = answer(&mut bytes);
            let differ = before.iter().zip(&bytes).map(|(one, other)| (one ^ other).count_ones()).sum::<u32>();
            prop_assert_eq!(differ, u32::from(reply == Reply::Answer));
            if reply == Reply::Answer {
                prop_assert_eq!(answer(&mut bytes), Reply::Ignored);
            }
        }
    }
}

//! The message of a ping-pong.
//!
//! The fields are big endian: number (8 bytes), token (8 bytes), padding. A shorter message contains the low bytes of
//! the number and as much of the token as fits. A one-byte message is identified only by the peer's address.

use super::greeting::Greeting;
use crate::{handshake::TOKEN, refused::RefusalCode};

pub(crate) const HEADER: usize = 16;
pub(crate) const CLOSING: u64 = u64::MAX;

pub trait Format: Clone + Send {
    fn write(&mut self, number: u64) -> &[u8];

    /// `next` is the lowest message number still to be sent.
    fn read(&self, received: &[u8], next: u64) -> Reply;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Answer(u64),
    Before,
    Greeting,
    End(RefusalCode),
    Unknown,
}

#[derive(Clone)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn new(length: usize, token: u64) -> Self {
        let mut bytes = vec![0; length];
        let owned = token.to_be_bytes();
        let fits = length.saturating_sub(TOKEN.start).min(owned.len());
        if fits > 0 {
            bytes[TOKEN.start..TOKEN.start + fits].copy_from_slice(&owned[..fits]);
        }
        Self(bytes)
    }

    pub(crate) fn number(&mut self, number: u64) -> &[u8] {
        let fits = self.0.len().min(8);
        self.0[..fits].copy_from_slice(&number.to_be_bytes()[8 - fits..]);
        &self.0
    }

    pub(crate) fn is_answered_by(&self, received: &[u8]) -> bool {
        let head = self.0.len().min(HEADER);
        received.len() == self.0.len() && received[..head] == self.0[..head]
    }
}

impl Message {
    /// A short message contains only the low bits of its number. Returns the latest number below `next` with these
    /// bits.
    #[inline]
    fn number_of(&self, received: &[u8], next: u64) -> Option<u64> {
        let (fits, head) = (self.0.len().min(8), self.0.len().min(HEADER));
        if received.len() != self.0.len() || received[fits..head] != self.0[fits..head] {
            return None;
        }
        let mut number = [0; 8];
        number[8 - fits..].copy_from_slice(&received[..fits]);
        Some(latest(u64::from_be_bytes(number), fits as u32 * 8, next))
    }
}

const fn latest(number: u64, bits: u32, next: u64) -> u64 {
    if bits >= u64::BITS || number >= next {
        return number;
    }
    let turns = (next - 1 - number) >> bits;
    number + (turns << bits)
}

impl Format for Message {
    #[inline]
    fn write(&mut self, number: u64) -> &[u8] {
        self.number(number)
    }

    #[inline]
    fn read(&self, received: &[u8], next: u64) -> Reply {
        if let Some(greeting) = Greeting::decode(received) {
            return greeting.refused().map_or(Reply::Greeting, Reply::End);
        }
        self.number_of(received, next).map_or(Reply::Unknown, Reply::Answer)
    }
}

pub(crate) fn has_token(datagram: &[u8], token: u64) -> bool {
    let owned = token.to_be_bytes();
    let carried = datagram.get(TOKEN.start..).unwrap_or_default();
    let fits = carried.len().min(owned.len());
    carried[..fits] == owned[..fits]
}

pub(crate) fn is_closing(datagram: &[u8]) -> bool {
    datagram.len() == HEADER && datagram[..8] == CLOSING.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        handshake::{Handshake, Purpose},
        ping_pong::greeting::{GreetingKind, LENGTH},
    };

    const TOKEN: u64 = 0x0102_0304_0506_0708;

    #[test]
    fn reply_has_equal_number_token_and_length() {
        for length in [1, 2, 7, 8, 9, 15, 16, 17, 1472] {
            let mut message = Message::new(length, TOKEN);
            let old = message.number(6).to_vec();
            let answer = message.number(7).to_vec();
            assert_eq!(answer.len(), length);
            assert!(message.is_answered_by(&answer), "{length}");
            assert!(!message.is_answered_by(&old), "{length}");
            assert!(!message.is_answered_by(&answer[1..]), "{length}");
            assert!(has_token(&answer, TOKEN) && !is_closing(&answer), "{length}");
            assert_eq!(has_token(&answer, !TOKEN), length <= 8, "{length}: the token starts at byte 8");
        }
    }

    #[test]
    fn reads_number_only_with_right_length_and_token() {
        for length in [8, 9, 15, 16, 17, 1472] {
            let mut message = Message::new(length, TOKEN);
            let answer = message.write(0x0102_0304_0506).to_vec();
            message.write(9);
            assert_eq!(message.read(&answer, 0), Reply::Answer(0x0102_0304_0506), "{length}");
            assert_eq!(message.read(&answer[..length - 1], 0), Reply::Unknown, "{length}");
            let other = Message::new(length, !TOKEN).read(&answer, 0);
            assert_eq!(other == Reply::Unknown, length > 8, "{length}: the token starts at byte 8");
        }
        assert_eq!(Message::new(8, TOKEN).read(&[], 0), Reply::Unknown);
    }

    #[test]
    fn truncated_number_is_the_latest_one_sent() {
        for (length, number, next, expected) in
            [(1, 7, 8, 7), (1, 7, 7, 7), (1, 7, 0x208, 0x207), (1, 0x107, 0x107, 7), (2, 7, 0x208, 7)]
        {
            let answer = Message::new(length, TOKEN).write(number).to_vec();
            let read = Message::new(length, TOKEN).read(&answer, next);
            assert_eq!(read, Reply::Answer(expected), "{length} B: {number} if {next} is next");
        }
        for (number, bits) in [(0, 8), (255, 8), (0, 56), (u64::MAX >> 8, 56), (u64::MAX, 64)] {
            let mask = u64::MAX >> (u64::BITS - bits);
            assert_eq!(latest(number, bits, u64::MAX) & mask, number, "{number} of {bits} bits");
        }
    }

    #[test]
    fn recognizes_greetings_and_refusals() {
        let handshake = Handshake { token: TOKEN, purpose: Purpose::PingPong, number: 0 };
        let welcome = Greeting::asking(handshake).with(GreetingKind::Welcomes);
        for message in [Message::new(64, TOKEN), Message::new(LENGTH, TOKEN)] {
            assert_eq!(message.read(&welcome.encode(), 9), Reply::Greeting);
            let refusal = welcome.refusing(RefusalCode::Busy).encode();
            assert_eq!(message.read(&refusal, 9), Reply::End(RefusalCode::Busy));
        }
    }

    #[test]
    fn recognizes_closing_message_by_number() {
        let mut message = Message::new(HEADER, TOKEN);
        assert!(is_closing(message.number(CLOSING)));
        assert!(!is_closing(message.number(CLOSING - 1)));
    }
}

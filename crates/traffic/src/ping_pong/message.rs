//! The message of a ping-pong: which number it has and, of a datagram, whose it is.
//!
//! Layout, big endian: number (8), token (8), anything. A shorter message has the lower bytes of the number
//! (all of them from 8 bytes on) and as much of the token as fits: one of 1 byte counts modulo 256 and is
//! known by its peer's address alone. Pure: bytes in, values out.

use super::greeting::Greeting;
use crate::{handshake::TOKEN, refused::Refused};

/// Number and token, complete.
pub(crate) const HEADER: usize = 16;
/// The number that ends a ping-pong.
pub(crate) const CLOSING: u64 = u64::MAX;

/// How the messages of a dialect are numbered and known again.
pub(crate) trait Format: Clone + Send {
    /// The bytes of message `number`.
    fn write(&mut self, number: u64) -> &[u8];

    /// Whether `received` is the answer to the message that was written last.
    fn is_answer(&self, received: &[u8]) -> bool;

    /// The number of the message that `received` answers; `None` for anything else.
    fn number_of(&self, received: &[u8]) -> Option<u64>;

    /// Why the server goes no further, if `received`, which is no answer, says so.
    fn end(&self, _received: &[u8]) -> Option<Refused> {
        None
    }
}

/// The bytes of a message, made once.
#[derive(Clone)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// A message of `length` bytes, at least 1.
    pub(crate) fn new(length: usize, token: u64) -> Self {
        let mut bytes = vec![0; length];
        let owned = token.to_be_bytes();
        let fits = length.saturating_sub(TOKEN.start).min(owned.len());
        if fits > 0 {
            bytes[TOKEN.start..TOKEN.start + fits].copy_from_slice(&owned[..fits]);
        }
        Self(bytes)
    }

    /// Gives it a number.
    pub(crate) fn number(&mut self, number: u64) -> &[u8] {
        let fits = self.0.len().min(8);
        self.0[..fits].copy_from_slice(&number.to_be_bytes()[8 - fits..]);
        &self.0
    }

    /// Whether `received` is this message, come back.
    pub(crate) fn is_answered_by(&self, received: &[u8]) -> bool {
        let head = self.0.len().min(HEADER);
        received.len() == self.0.len() && received[..head] == self.0[..head]
    }
}

impl Format for Message {
    #[inline]
    fn write(&mut self, number: u64) -> &[u8] {
        self.number(number)
    }

    #[inline]
    fn is_answer(&self, received: &[u8]) -> bool {
        self.is_answered_by(received)
    }

    #[inline]
    fn number_of(&self, received: &[u8]) -> Option<u64> {
        let number = received.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))?;
        let ours = received.len() == self.0.len() && received.get(8..HEADER) == self.0.get(8..HEADER);
        ours.then_some(number)
    }

    fn end(&self, received: &[u8]) -> Option<Refused> {
        Greeting::decode(received)?.refused()
    }
}

/// Whether a datagram has as much of the token as fits in it.
pub(crate) fn knows(datagram: &[u8], token: u64) -> bool {
    let owned = token.to_be_bytes();
    let said = datagram.get(TOKEN.start..).unwrap_or_default();
    let fits = said.len().min(owned.len());
    said[..fits] == owned[..fits]
}

/// Whether it is the one that ends a ping-pong.
pub(crate) fn is_closing(datagram: &[u8]) -> bool {
    datagram.len() == HEADER && datagram[..8] == CLOSING.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: u64 = 0x0102_0304_0506_0708;

    #[test]
    fn only_the_same_number_token_and_length_is_the_answer() {
        for length in [1, 2, 7, 8, 9, 15, 16, 17, 1472] {
            let mut message = Message::new(length, TOKEN);
            let old = message.number(6).to_vec();
            let answer = message.number(7).to_vec();
            assert_eq!(answer.len(), length);
            assert!(message.is_answered_by(&answer), "{length}");
            assert!(!message.is_answered_by(&old), "{length}");
            assert!(!message.is_answered_by(&answer[1..]), "{length}");
            assert!(knows(&answer, TOKEN) && !is_closing(&answer), "{length}");
            assert_eq!(knows(&answer, !TOKEN), length <= 8, "{length}: the token begins at byte 8");
        }
    }

    #[test]
    fn the_number_of_an_answer_is_read_only_where_length_and_token_are_right() {
        for length in [16, 17, 1472] {
            let mut message = Message::new(length, TOKEN);
            let answer = message.write(0x0102_0304_0506).to_vec();
            message.write(9);
            assert_eq!(message.number_of(&answer), Some(0x0102_0304_0506));
            assert_eq!(message.number_of(&answer[..length - 1]), None);
            assert_eq!(Message::new(length, !TOKEN).number_of(&answer), None);
        }
        assert_eq!(Message::new(8, TOKEN).number_of(&[]), None);
    }

    #[test]
    fn the_closing_message_is_known_by_its_number() {
        let mut message = Message::new(HEADER, TOKEN);
        assert!(is_closing(message.number(CLOSING)));
        assert!(!is_closing(message.number(CLOSING - 1)));
    }
}

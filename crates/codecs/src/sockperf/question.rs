//! A client's request, and how to recognize the reply.

use thiserror::Error;

use super::{Flags, Header, MAX_MESSAGE};

#[derive(Clone)]
pub struct Question(Box<[u8]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("sockperf messages cannot be {0} bytes long; use 14 to 65507")]
pub struct BadLength(pub usize);

impl Question {
    pub const LENGTHS: std::ops::RangeInclusive<usize> = Header::SIZE..=MAX_MESSAGE;

    pub fn new(length: usize) -> Result<Self, BadLength> {
        if !Self::LENGTHS.contains(&length) {
            return Err(BadLength(length));
        }
        let mut bytes = vec![0x5a; length].into_boxed_slice();
        let length = u32::try_from(length).map_err(|_| BadLength(length))?;
        Header { sequence: 0, flags: Flags::CLIENT | Flags::PONG, length }.write(&mut bytes);
        Ok(Self(bytes))
    }

    #[inline]
    pub fn number(&mut self, sequence: u64) -> &[u8] {
        self.0[..8].copy_from_slice(&sequence.to_be_bytes());
        &self.0
    }

    #[inline]
    #[must_use]
    pub fn answered_by(&self, message: &[u8]) -> Option<u64> {
        let header = Header::read(message)?;
        let whole = message.len() == self.0.len() && header.length as usize == message.len();
        (whole && header.flags == Flags::PONG).then_some(header.sequence)
    }
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Question({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockperf::{Reply, answer};

    #[test]
    fn recognizes_reply_by_its_number() {
        for length in [14, 15, 1472, 65_507] {
            let mut question = Question::new(length).expect("it fits");
            let mut bytes = question.number(41).to_vec();
            assert_eq!(question.answered_by(&bytes), None, "a request is not a reply");
            assert_eq!(answer(&mut bytes), Reply::Answer);
            let _ = question.number(42);
            assert_eq!(question.answered_by(&bytes), Some(41));
            assert_eq!(question.answered_by(&bytes[..length - 1]), None);
            bytes[13] ^= 1;
            assert_eq!(question.answered_by(&bytes), None, "wrong length");
        }
    }

    #[test]
    fn rejects_invalid_length_and_names_valid_ones() {
        for length in [0, 13, 65_508] {
            let error = Question::new(length).expect_err("invalid length").to_string();
            assert!(error.contains(&length.to_string()) && error.contains("14 to 65507"), "{error}");
        }
    }
}

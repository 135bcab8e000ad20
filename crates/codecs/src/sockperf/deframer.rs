//! Splits a TCP byte stream into messages, using a fixed-size buffer.

use std::ops::Range;

use thiserror::Error;

use super::{Header, MAX_MESSAGE};

/// Read into [`space`](Self::space) and pass the number of bytes to [`filled`](Self::filled). Then take messages
/// until none are left.
pub(super) struct Deframer {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Violation {
    #[error("announced message length {0} is invalid; sockperf messages are 14 to 65507 bytes long")]
    Length(u32),
}

impl Deframer {
    const CAPACITY: usize = 2 * MAX_MESSAGE;

    /// Returns the unused part of the buffer, at least one byte after [`next_range`](Self::next_range) has returned `None`.
    #[inline]
    pub(super) fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.buffer.len() - self.end < MAX_MESSAGE {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.buffer[self.end..]
    }

    #[inline]
    pub(super) fn filled(&mut self, count: usize) {
        assert!(count <= self.buffer.len() - self.end, "count exceeds the space");
        self.end += count;
    }

    #[inline]
    pub(super) fn next_range(&mut self) -> Result<Option<Range<usize>>, Violation> {
        let held = &self.buffer[self.start..self.end];
        let Some(header) = Header::read(held) else { return Ok(None) };
        let length = header.message_length().ok_or(Violation::Length(header.length))?;
        if held.len() < length {
            return Ok(None);
        }
        let range = self.start..self.start + length;
        self.start = range.end;
        Ok(Some(range))
    }

    #[inline]
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        &mut self.buffer[range]
    }
}

impl Default for Deframer {
    fn default() -> Self {
        Self { buffer: vec![0; Self::CAPACITY].into(), start: 0, end: 0 }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sockperf::Flags;

    pub(crate) fn messages(lengths: &[usize], flags: impl Fn(u64) -> Flags) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (sequence, length) in (1..).zip(lengths) {
            let mut message = vec![sequence as u8; *length];
            Header { sequence, flags: flags(sequence), length: *length as u32 }.write(&mut message);
            bytes.extend(message);
        }
        bytes
    }

    pub(crate) fn in_pieces(mut bytes: &[u8], pieces: &[usize], mut feed: impl FnMut(&[u8]) -> usize) {
        let mut pieces = pieces.iter().cycle();
        while !bytes.is_empty() {
            let piece = bytes.len().min(*pieces.next().expect("a cycle"));
            let taken = feed(&bytes[..piece]);
            assert!(taken > 0, "space is never empty");
            bytes = &bytes[taken..];
        }
    }

    impl Deframer {
        fn next_message(&mut self) -> Result<Option<&mut [u8]>, Violation> {
            let range = self.next_range()?;
            Ok(range.map(|range| &mut self.buffer[range]))
        }
    }

    fn cut(bytes: &[u8], pieces: &[usize]) -> Result<Vec<Vec<u8>>, Violation> {
        let mut deframer = Deframer::default();
        let mut found = Vec::new();
        let mut failure = None;
        in_pieces(bytes, pieces, |piece| {
            let space = deframer.space();
            let count = piece.len().min(space.len());
            space[..count].copy_from_slice(&piece[..count]);
            deframer.filled(count);
            loop {
                match deframer.next_message() {
                    Ok(Some(message)) => found.push(message.to_vec()),
                    Ok(None) => return count,
                    Err(violation) => {
                        failure = Some(violation);
                        return piece.len();
                    }
                }
            }
        });
        failure.map_or(Ok(found), Err)
    }

    #[test]
    fn longest_messages_fit_after_partial_ones() {
        let lengths = [14, MAX_MESSAGE, 15, MAX_MESSAGE, MAX_MESSAGE, 14];
        let bytes = messages(&lengths, |_| Flags::CLIENT);
        for pieces in [&[1][..], &[13], &[65_506, 1], &[usize::MAX]] {
            let found = cut(&bytes, pieces).expect("good messages");
            assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), lengths, "{pieces:?}");
            assert_eq!(found.concat(), bytes, "{pieces:?}");
        }
    }

    #[test]
    fn rejects_invalid_length_immediately() {
        for length in [0, 13, 65_508, u32::MAX] {
            let mut bytes = messages(&[20, 14], |_| Flags::CLIENT);
            bytes[30..34].copy_from_slice(&length.to_be_bytes());
            let violation = cut(&bytes, &[7]).expect_err("impossible");
            assert_eq!(violation, Violation::Length(length));
            assert!(violation.to_string().contains(&length.to_string()), "{violation}");
        }
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            lengths in proptest::collection::vec(14_usize..3000, 1..60),
            pieces in proptest::collection::vec(1_usize..5000, 1..20),
        ) {
            let bytes = messages(&lengths, |_| Flags::CLIENT);
            let found = cut(&bytes, &pieces).expect("good messages");
            prop_assert_eq!(found.concat(), bytes);
            prop_assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
        }

        #[test]
        fn garbage_neither_panics_nor_hangs(
            bytes in proptest::collection::vec(any::<u8>(), 0..4000),
            pieces in proptest::collection::vec(1_usize..500, 1..5),
        ) {
            let _ = cut(&bytes, &pieces);
        }
    }
}

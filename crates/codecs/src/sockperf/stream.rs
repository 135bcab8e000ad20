//! The server side of a TCP connection. Turns received bytes into replies in place.

use std::ops::Range;

use super::{Deframer, Reply, Violation, answer};

/// Read into [`space`](Self::space) and pass the number of bytes to [`filled`](Self::filled). Then send what
/// [`answers`](Self::answers) returns until it returns `None`.
#[derive(Default)]
pub struct ServerStream {
    messages: Deframer,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub received: u64,
    pub answered: u64,
    pub bytes: u64,
}

impl Counts {
    #[inline]
    pub fn note(&mut self, reply: Reply, length: usize) {
        let (received, answered) = match reply {
            Reply::Answer => (1, 1),
            Reply::Silence => (1, 0),
            Reply::Ignored | Reply::Stranger => (0, 0),
        };
        self.received += received;
        self.answered += answered;
        self.bytes += received * length as u64;
    }
}

impl ServerStream {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        self.messages.space()
    }

    #[inline]
    pub fn filled(&mut self, count: usize) {
        self.messages.filled(count);
    }

    /// Returns consecutive replies, or `None` if more bytes are needed. Replies to earlier messages come before an
    /// error.
    #[inline]
    pub fn answers(&mut self) -> Result<Option<&[u8]>, Violation> {
        let mut run: Range<usize> = 0..0;
        loop {
            let message = match self.messages.next_range() {
                Ok(Some(message)) => message,
                Err(violation) if run.is_empty() => return Err(violation),
                Ok(None) | Err(_) => break,
            };
            let reply = answer(self.messages.bytes_mut(message.clone()));
            self.counts.note(reply, message.len());
            match reply {
                Reply::Answer if run.is_empty() => run = message,
                Reply::Answer => run.end = message.end,
                _ if run.is_empty() => {}
                _ => break,
            }
        }
        Ok((!run.is_empty()).then(|| self.messages.bytes(run)))
    }

    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sockperf::{
        Flags, Header,
        deframer::tests::{in_pieces, messages},
    };

    fn serve(bytes: &[u8], pieces: &[usize]) -> (Vec<u8>, Counts, usize) {
        let mut stream = ServerStream::new();
        let (mut sent, mut runs) = (Vec::new(), 0);
        in_pieces(bytes, pieces, |piece| {
            let space = stream.space();
            let count = piece.len().min(space.len());
            space[..count].copy_from_slice(&piece[..count]);
            stream.filled(count);
            while let Some(answers) = stream.answers().expect("good messages") {
                sent.extend_from_slice(answers);
                runs += 1;
            }
            count
        });
        (sent, stream.counts(), runs)
    }

    fn every(reply_every: u64) -> impl Fn(u64) -> Flags {
        move |sequence| {
            if sequence % reply_every == 0 { Flags::CLIENT | Flags::PONG } else { Flags::CLIENT }
        }
    }

    #[test]
    fn replies_to_adjacent_messages_together() {
        let bytes = messages(&[14; 1000], every(1));
        let (sent, counts, runs) = serve(&bytes, &[usize::MAX]);
        assert_eq!(runs, 1);
        assert_eq!(sent, messages(&[14; 1000], |_| Flags::PONG));
        assert_eq!(counts, Counts { received: 1000, answered: 1000, bytes: 14_000 });
    }

    #[test]
    fn replies_to_messages_before_an_invalid_length() {
        let mut bytes = messages(&[20, 14], every(1));
        bytes[30] = 0xff;
        let mut stream = ServerStream::new();
        stream.space()[..34].copy_from_slice(&bytes);
        stream.filled(34);
        assert_eq!(stream.answers().expect("valid first message").map(<[u8]>::len), Some(20));
        assert_eq!(stream.answers(), Err(Violation::Length(0xff00_000e)));
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            lengths in proptest::collection::vec(14_usize..2000, 1..80),
            pieces in proptest::collection::vec(1_usize..5000, 1..20),
            reply_every in 1_u64..7,
        ) {
            let bytes = messages(&lengths, every(reply_every));
            let (sent, counts, _) = serve(&bytes, &pieces);
            let (together, same, _) = serve(&bytes, &[usize::MAX]);
            prop_assert_eq!(&sent, &together);
            prop_assert_eq!(counts, same);
            prop_assert_eq!(counts.received, lengths.len() as u64);
            prop_assert_eq!(counts.answered, lengths.len() as u64 / reply_every);
            prop_assert_eq!(counts.bytes, bytes.len() as u64);
            let asked = (1..).zip(&lengths).filter(|(sequence, _)| sequence % reply_every == 0);
            let mut rest = &sent[..];
            for (sequence, length) in asked {
                let header = Header::read(rest).expect("an answer");
                prop_assert_eq!(header, Header { sequence, flags: Flags::PONG, length: *length as u32 });
                prop_assert!(rest[14..*length].iter().all(|byte| *byte == sequence as u8));
                rest = &rest[*length..];
            }
            prop_assert!(rest.is_empty());
        }
    }
}

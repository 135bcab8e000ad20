//! Entry point for fuzzers: feeds arbitrary bytes to either role of a peer and checks invariants.

use codecs::sockperf::{MAX_MESSAGE, Question, Reply, ServerStream, answer_datagram, may_begin};

/// The first byte is the chunk size on a TCP connection. Panics if a server sends more than it received or runs
/// out of space, or if a client accepts an invalid reply.
pub(crate) fn exercise(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    serve(bytes, usize::from(*size) + 1);
    let mut datagram = bytes.to_vec();
    let reply = answer_datagram(&mut datagram);
    assert!(reply == Reply::Stranger || may_begin(bytes), "accepted another protocol");
    assert!(reply == Reply::Answer || datagram == bytes, "changed a message without replying");
    assert_ne!(answer_datagram(&mut datagram), Reply::Answer, "replied to a reply");
    if let Ok(question) = Question::new(bytes.len()) {
        assert!(question.answered_by(bytes).is_none() || reply == Reply::Stranger, "both request and reply");
    }
}

fn serve(bytes: &[u8], size: usize) {
    let mut stream = ServerStream::new();
    let (mut received, mut sent) = (0, 0);
    for piece in bytes.chunks(size) {
        let space = stream.space();
        assert!(space.len() >= MAX_MESSAGE.min(size), "no space");
        space[..piece.len()].copy_from_slice(piece);
        stream.filled(piece.len());
        received += piece.len();
        loop {
            match stream.answers() {
                Ok(Some(answers)) => sent += answers.len(),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(sent <= received && stream.counts().bytes <= received as u64, "sent more than received");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use codecs::sockperf::{Flags, Header};

    proptest! {
        #[test]
        fn invariants_hold_for_garbage_and_plausible_messages(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..2000),
            lengths in proptest::collection::vec(0_u32..200, 1..10),
        ) {
            exercise(&bytes);
            let mut start = 1;
            for (length, sequence) in lengths.into_iter().cycle().zip(1..) {
                let Some(message) = bytes.get_mut(start..).filter(|rest| rest.len() >= Header::SIZE) else {
                    break;
                };
                Header { sequence, flags: Flags((sequence % 8) as u16), length }.write(message);
                start += (length as usize).max(Header::SIZE);
            }
            exercise(&bytes);
        }
    }
}

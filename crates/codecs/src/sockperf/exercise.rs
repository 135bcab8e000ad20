//! Arbitrary bytes through everything that a peer's bytes meet here, with what must hold; fuzzers call it.

use super::{MAX_MESSAGE, Question, Reply, ServerStream, answer_datagram, may_begin};

/// Takes the bytes as the pieces of a TCP connection to a server (the first byte is the size of the pieces), as
/// a datagram to a server, and as an answer to a client.
///
/// # Panics
/// When a server says more than it heard, has no space, or a client believes what is no answer: a defect.
pub fn exercise(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    serve(bytes, usize::from(*size) + 1);
    let mut datagram = bytes.to_vec();
    let reply = answer_datagram(&mut datagram);
    assert!(reply == Reply::Stranger || may_begin(bytes), "a stranger was heard");
    assert!(reply == Reply::Answer || datagram == bytes, "a message was changed and not answered");
    assert_ne!(answer_datagram(&mut datagram), Reply::Answer, "an answer was answered");
    if let Ok(question) = Question::new(bytes.len()) {
        assert!(question.answered_by(bytes).is_none() || reply == Reply::Stranger, "it is both");
    }
}

fn serve(bytes: &[u8], size: usize) {
    let mut stream = ServerStream::new();
    let (mut heard, mut said) = (0, 0);
    for piece in bytes.chunks(size) {
        let space = stream.space();
        assert!(space.len() >= MAX_MESSAGE.min(size), "no space");
        space[..piece.len()].copy_from_slice(piece);
        stream.filled(piece.len());
        heard += piece.len();
        loop {
            match stream.answers() {
                Ok(Some(answers)) => said += answers.len(),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        assert!(said <= heard && stream.counts().bytes <= heard as u64, "more was said than heard");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sockperf::{Flags, Header};

    proptest! {
        #[test]
        fn it_holds_for_garbage_and_for_what_looks_like_messages(
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

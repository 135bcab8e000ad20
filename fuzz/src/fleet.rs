//! Feeds arbitrary bytes to all parsers of a NATS server's messages and checks invariants.

use std::time::Instant;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    frame::{Frame, FrameKind},
    message::{MemberInfo, OrderReply},
    order::Order,
    seal::Signed,
    window::Window,
};

/// Each message is preceded by its length in two bytes. After a message of odd length, this also reads pending
/// chunks and sends one.
pub fn session(mut bytes: &[u8]) {
    let now = Instant::now();
    let mut window = Window::new(now);
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes(*length));
        let (message, rest) = rest.split_at(length.min(rest.len()));
        bytes = rest;
        if let Some(frame) = Frame::decode(message) {
            assert_eq!(frame.encode(), message);
        }
        window.take(message, now);
        if length % 2 == 1 {
            let _ = window.next();
            if window.has_room() {
                let _ = window.speak(FrameKind::Chunk, b"text", now);
            }
        }
        window.check();
    }
}

pub fn message(bytes: &[u8]) {
    read_again::<MemberInfo>(bytes);
    read_again::<Signed>(bytes);
    read_again::<Order>(bytes);
    read_again::<OrderReply>(bytes);
}

fn read_again<M: Serialize + DeserializeOwned + PartialEq>(bytes: &[u8]) {
    if let Ok(message) = serde_json::from_slice::<M>(bytes) {
        let sent = serde_json::to_vec(&message).expect("texts and numbers are JSON");
        assert!(serde_json::from_slice(&sent).is_ok_and(|again: M| again == message));
    }
}

#[cfg(test)]
mod tests {
    use plumb_tests::vary;

    use super::*;

    #[test]
    fn arbitrary_session_messages_are_bounded() {
        for sample in [
            &include_bytes!("../corpus/fleet_session/whole")[..],
            include_bytes!("../corpus/fleet_session/broken"),
        ] {
            vary(sample, session);
        }
        // Send more chunks than allowed, and an oversized one.
        let chunks = (0_u64..200).map(|sent| {
            let message = Frame { kind: FrameKind::Chunk, sent, consumed: sent, bytes: b"a chunk" }.encode();
            [&u16::try_from(message.len()).expect("short").to_be_bytes()[..], &message].concat()
        });
        session(&chunks.collect::<Vec<_>>().concat());
        session(&[&u16::MAX.to_be_bytes()[..], &[0; 70_000]].concat());
    }

    #[test]
    fn arbitrary_bytes_are_a_valid_message_or_an_error() {
        for sample in [
            &include_bytes!("../corpus/fleet_message/info")[..],
            include_bytes!("../corpus/fleet_message/order"),
            include_bytes!("../corpus/fleet_message/refused"),
        ] {
            vary(sample, message);
        }
        assert!(serde_json::from_slice::<MemberInfo>(include_bytes!("../corpus/fleet_message/info")).is_ok());
        assert!(serde_json::from_slice::<Order>(include_bytes!("../corpus/fleet_message/order")).is_ok());
        assert!(
            serde_json::from_slice::<OrderReply>(include_bytes!("../corpus/fleet_message/refused")).is_ok()
        );
    }
}

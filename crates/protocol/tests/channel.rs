//! Tests messages over a channel. These are not unit tests, because unit tests would compile all messages
//! twice.

use std::{cell::Cell, io::Read};

use proptest::prelude::*;
use protocol::{ChannelError, FromAgent, Hello, LineLimit, Order, Receiver, Reply, Sender, ToAgent, Token};
use units::Nanos;

#[path = "../../../fuzz/src/protocol.rs"]
mod exercise;

#[test]
fn round_trips_messages() {
    let messages = [
        ToAgent::Hello(Hello::new("0.1.0")),
        ToAgent::Request { id: 7, deadline: Nanos::from_secs(5), order: Order::Describe },
        ToAgent::Request { id: 8, deadline: Nanos::from_secs(5), order: Order::Collect { token: Token(9) } },
    ];
    let mut bytes = Vec::new();
    let mut sender = Sender::new(&mut bytes);
    messages.iter().for_each(|message| sender.send(message).expect("writing to a vector cannot fail"));
    let mut receiver = Receiver::new(bytes.as_slice());
    for message in messages {
        assert_eq!(receiver.receive::<ToAgent>().expect("was sent"), message);
    }
    assert!(matches!(receiver.receive::<ToAgent>(), Err(ChannelError::Closed)));
}

/// Replies with lists need a struct, because a list cannot hold the tag.
#[test]
fn round_trips_replies_with_lists() {
    for reply in [
        Reply::DeviceStates { states: Vec::new() },
        Reply::DeviceCounters { counters: Vec::new(), hosts: Vec::new() },
    ] {
        let message = FromAgent::Reply { id: 1, reply: Box::new(reply) };
        let mut bytes = Vec::new();
        Sender::new(&mut bytes).send(&message).expect("writing to a vector cannot fail");
        let received = Receiver::new(bytes.as_slice()).receive::<FromAgent>().expect("was sent");
        assert_eq!(received, message);
    }
}

#[test]
fn rejects_other_protocol_version() {
    let hello = Hello { protocol: 99, tool: "9.9.9".into() };
    let error = hello.accept().expect_err("versions differ").to_string();
    assert!(error.contains("protocol 99") && error.contains("9.9.9"), "{error}");
}

#[test]
fn truncated_message_means_closed_channel() {
    let mut receiver = Receiver::new(&b"{\"type\":\"hel"[..]);
    assert!(matches!(receiver.receive::<ToAgent>(), Err(ChannelError::Closed)));
}

#[test]
fn applies_current_limit_while_reading() {
    struct Endless<'a>(LineLimit, &'a Cell<usize>);
    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1.update(|read| read + buffer.len());
            if self.1.get() > 100_000 {
                self.0.set(300_000);
            }
            buffer.fill(b'7');
            Ok(buffer.len())
        }
    }
    let (limit, read) = (LineLimit::new(200_000), Cell::new(0));
    let mut receiver = Receiver::bounded(Endless(limit.clone(), &read), limit);
    let error = receiver.receive::<FromAgent>().expect_err("the line never ends");
    assert!(matches!(error, ChannelError::TooLong { limit: 300_000 }), "{error:?}");
    assert!(read.get() < 320_000, "{} bytes were read", read.get());
}

proptest! {
    #[test]
    fn decodes_arbitrary_bytes_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        exercise::to_agent(&bytes);
        exercise::from_agent(&bytes);
        exercise::to_nested_run(&bytes);
        exercise::from_nested_run(&bytes);
    }
}

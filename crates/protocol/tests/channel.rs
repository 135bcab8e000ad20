//! Messages over a channel, by what others use. Apart from the crate: with its unit tests all messages would be compiled twice.

use std::{cell::Cell, io::Read};

use proptest::prelude::*;
use protocol::{
    ChannelError, FromAgent, Hello, LineLimit, Order, Receiver, Reply, Sender, ToAgent, Token, exercise,
};
use units::Nanos;

#[test]
fn a_message_sent_is_the_message_received() {
    let messages = [
        ToAgent::Hello(Hello::new("0.1.0")),
        ToAgent::Request { id: 7, deadline: Nanos::from_secs(5), order: Order::Describe },
        ToAgent::Request { id: 8, deadline: Nanos::from_secs(5), order: Order::Collect { token: Token(9) } },
    ];
    let mut bytes = Vec::new();
    let mut sender = Sender::new(&mut bytes);
    messages.iter().for_each(|message| sender.send(message).expect("a vector takes all"));
    let mut receiver = Receiver::new(bytes.as_slice());
    for message in messages {
        assert_eq!(receiver.receive::<ToAgent>().expect("was sent"), message);
    }
    assert!(matches!(receiver.receive::<ToAgent>(), Err(ChannelError::Closed)));
}

/// A list by itself has no place for the tag that says which reply it is.
#[test]
fn a_reply_that_is_a_list_arrives() {
    for reply in [Reply::DeviceStates { states: Vec::new() }, Reply::DeviceCounters { counters: Vec::new() }]
    {
        let message = FromAgent::Reply { id: 1, reply: Box::new(reply) };
        let mut bytes = Vec::new();
        Sender::new(&mut bytes).send(&message).expect("a vector takes all");
        let received = Receiver::new(bytes.as_slice()).receive::<FromAgent>().expect("was sent");
        assert_eq!(received, message);
    }
}

#[test]
fn another_version_is_refused_by_name() {
    let hello = Hello { protocol: 99, tool: "9.9.9".into() };
    let error = hello.accept().expect_err("versions differ").to_string();
    assert!(error.contains("protocol 99") && error.contains("9.9.9"), "{error}");
}

#[test]
fn a_message_cut_off_is_a_closed_channel() {
    let mut receiver = Receiver::new(&b"{\"type\":\"hel"[..]);
    assert!(matches!(receiver.receive::<ToAgent>(), Err(ChannelError::Closed)));
}

/// A peer that never ends its line is given up at the limit, whatever it was when it began.
#[test]
fn a_line_is_bounded_while_it_is_read_by_what_the_limit_is_then() {
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
    let error = receiver.receive::<FromAgent>().expect_err("never ends");
    assert!(matches!(error, ChannelError::TooLong { limit: 300_000 }), "{error:?}");
    assert!(read.get() < 320_000, "{} were read", read.get());
}

proptest! {
    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        exercise::to_agent(&bytes);
        exercise::from_agent(&bytes);
        exercise::to_conductor(&bytes);
        exercise::from_conductor(&bytes);
    }
}

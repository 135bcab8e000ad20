//! Entry points for fuzzers and property tests: decode arbitrary bytes and check invariants.

use protocol::{FromAgent, FromNestedRun, LineLimit, Receiver, Sender, ToAgent, ToNestedRun};
use serde::{Serialize, de::DeserializeOwned};

const LONGEST: usize = 1 << 20;

pub(crate) fn from_agent(bytes: &[u8]) {
    check_round_trip::<FromAgent>(bytes);
}

pub(crate) fn to_agent(bytes: &[u8]) {
    check_round_trip::<ToAgent>(bytes);
}

pub(crate) fn from_nested_run(bytes: &[u8]) {
    check_round_trip::<FromNestedRun>(bytes);
}

pub(crate) fn to_nested_run(bytes: &[u8]) {
    check_round_trip::<ToNestedRun>(bytes);
}

fn check_round_trip<M: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let mut receiver = Receiver::bounded(bytes, LineLimit::new(LONGEST));
    while let Ok(message) = receiver.receive::<M>() {
        let mut line = Vec::new();
        Sender::new(&mut line).send(&message).expect("writing to a vector cannot fail");
        let decoded = Receiver::new(line.as_slice()).receive::<M>();
        assert!(decoded.is_ok(), "cannot be decoded: {}", String::from_utf8_lossy(&line));
    }
}

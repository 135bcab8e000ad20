//! Arbitrary bytes through everything that reads a channel, with what must hold; fuzzers and property tests call it.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    channel::{LineLimit, Receiver, Sender},
    message::{FromAgent, ToAgent},
    nested_run::{FromConductor, ToConductor},
};

/// More than a fuzzer makes.
const LONGEST: usize = 1 << 20;

/// What an agent says to the controller.
pub fn from_agent(bytes: &[u8]) {
    said::<FromAgent>(bytes);
}

/// What a controller says to an agent.
pub fn to_agent(bytes: &[u8]) {
    said::<ToAgent>(bytes);
}

/// What a guest hypervisor says of the run that it conducts.
pub fn from_conductor(bytes: &[u8]) {
    said::<FromConductor>(bytes);
}

/// What it is told.
pub fn to_conductor(bytes: &[u8]) {
    said::<ToConductor>(bytes);
}

/// What can be read can be sent, and is read again then.
fn said<M: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let mut receiver = Receiver::bounded(bytes, LineLimit::new(LONGEST));
    while let Ok(message) = receiver.receive::<M>() {
        let mut line = Vec::new();
        Sender::new(&mut line).send(&message).expect("a vector takes all");
        let again = Receiver::new(line.as_slice()).receive::<M>();
        assert!(again.is_ok(), "not read again: {}", String::from_utf8_lossy(&line));
    }
}

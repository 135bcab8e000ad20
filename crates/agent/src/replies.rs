//! Sends the replies and progress of all threads, one message at a time.

use std::io::Write;

use parking_lot::Mutex;
use protocol::{FromAgent, Reply, Sender};

use crate::refusal::Refusal;

pub(crate) struct Replies(Mutex<Sender<Box<dyn Write + Send>>>);

impl Replies {
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Sender::new(Box::new(output))))
    }

    pub(crate) fn send(&self, message: &FromAgent) {
        // Ignore errors: if the controller has disconnected, reading its next order fails too.
        let _ = self.0.lock().send(message);
    }

    pub(crate) fn answer(&self, id: u64, answer: Result<Reply, Refusal>) {
        self.send(&match answer {
            Ok(reply) => FromAgent::Reply { id, reply: Box::new(reply) },
            Err(Refusal { reason, unsupported }) => FromAgent::Refused { id, reason, unsupported },
        });
    }
}

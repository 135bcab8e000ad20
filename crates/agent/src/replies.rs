//! The one way out: every thread's answers and progress, one message at a time.

use std::{
    io::Write,
    sync::{Mutex, PoisonError},
};

use protocol::{FromAgent, Reply, Sender};

use crate::refusal::Refusal;

/// The sending half of the channel, shared by all threads. No traffic thread uses it.
pub(crate) struct Replies(Mutex<Sender<Box<dyn Write + Send>>>);

impl Replies {
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Sender::new(Box::new(output))))
    }

    /// Sends one message.
    pub(crate) fn send(&self, message: &FromAgent) {
        // A controller that cannot be reached has hung up, and the end of its orders says so too.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(message);
    }

    /// Answers a request.
    pub(crate) fn answer(&self, id: u64, answer: Result<Reply, Refusal>) {
        self.send(&match answer {
            Ok(reply) => FromAgent::Reply { id, reply: Box::new(reply) },
            Err(Refusal { because, unsupported }) => FromAgent::Refused { id, because, unsupported },
        });
    }
}

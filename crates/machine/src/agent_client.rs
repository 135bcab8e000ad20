//! Sends orders to an agent, and receives its messages on a separate thread.

use std::{io::Write, thread, time::Duration};

use protocol::{ChannelError, FromAgent, Hello, LineLimit, Order, Receiver, Sender, ToAgent};

use crate::channel::Channel;

pub struct AgentClient {
    to_agent: Sender<Box<dyn Write + Send>>,
    pub limit: LineLimit,
    last_id: u64,
}

impl AgentClient {
    /// Starts a thread that passes each message to `deliver`, and finally the error that ended the channel.
    /// The thread ends early if `deliver` returns false. Lines may be up to `limit` bytes long.
    pub fn new(
        channel: Channel,
        limit: usize,
        deliver: impl Fn(Result<FromAgent, ChannelError>) -> bool + Send + 'static,
    ) -> Self {
        let limit = LineLimit::new(limit);
        let mut receiver = Receiver::bounded(channel.from_agent, limit.clone());
        thread::spawn(move || {
            loop {
                let message = receiver.receive();
                let has_ended = message.is_err();
                if !deliver(message) || has_ended {
                    return;
                }
            }
        });
        Self { to_agent: Sender::new(channel.to_agent), limit, last_id: 0 }
    }

    pub fn greet(&mut self, tool: &str) -> Result<(), ChannelError> {
        self.to_agent.send(&ToAgent::Hello(Hello::new(tool)))
    }

    pub fn request(&mut self, order: Order, deadline: Duration) -> Result<u64, ChannelError> {
        self.last_id += 1;
        let (id, deadline) = (self.last_id, deadline.into());
        self.to_agent.send(&ToAgent::Request { id, deadline, order })?;
        Ok(id)
    }
}

impl std::fmt::Debug for AgentClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AgentClient")
    }
}

//! A duplex byte stream to an agent.

use std::io::{Read, Write};

/// Both halves of the stream; each can be given to a thread of its own.
pub struct Channel {
    /// What the agent says. Ends when the agent does.
    pub from_agent: Box<dyn Read + Send>,
    /// What the agent is told. The agent ends when this is dropped.
    pub to_agent: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channel")
    }
}

//! A duplex byte stream to an agent.

use std::io::{Read, Write};

pub struct Channel {
    /// Reaches its end when the agent exits.
    pub from_agent: Box<dyn Read + Send>,
    /// Dropping it makes the agent exit.
    pub to_agent: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channel")
    }
}

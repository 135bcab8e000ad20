//! A duplex byte stream to an agent.

use std::io::{Read, Write};

pub struct Channel {
    pub from_agent: Box<dyn Read + Send>,
    pub to_agent: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channel")
    }
}

//! JSON lines over any byte stream: one message a line, bounded in length.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::message::{Hello, VERSION};

/// The longest line that is read at all: a trial of 128 connections sampled often fits, a runaway peer does not.
pub const MAX_LINE: usize = 64 << 20;

/// How long the next lines may be. Whoever knows what was asked for changes it while they are read.
#[derive(Debug, Clone)]
pub struct LineLimit(Arc<AtomicUsize>);

impl LineLimit {
    /// So many bytes, but never more than [`MAX_LINE`].
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes.min(MAX_LINE))))
    }

    /// Lines may be so long from now on.
    pub fn set(&self, bytes: usize) {
        self.0.store(bytes.min(MAX_LINE), Ordering::Relaxed);
    }

    /// Lines may be so long as well.
    pub fn raise_to(&self, bytes: usize) {
        self.0.fetch_max(bytes.min(MAX_LINE), Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a line usually takes, which is kept for the next one.
const USUAL: usize = 64 << 10;
/// Of what the reader says of a line, which may quote it.
const QUOTED: usize = 200;

/// What went wrong on a channel.
#[derive(Debug, Error)]
pub enum ChannelError {
    /// The bytes could not be read or written.
    #[error("the channel to the other side broke: {0}")]
    Io(#[from] std::io::Error),
    /// The other side ended it.
    #[error("the other side closed the channel")]
    Closed,
    /// A line is not a message.
    #[error("not a message of protocol {VERSION}: {reason}; it begins `{start}`")]
    Malformed {
        /// What the reader says.
        reason: String,
        /// The line's first bytes.
        start: String,
    },
    /// A line is too long.
    #[error("a message is longer than the {limit} bytes that what was asked for can take")]
    TooLong { limit: usize },
    /// The other side speaks another version.
    #[error(
        "the other side speaks protocol {theirs} (plumb {tool}), this side {VERSION}; install the same version of plumb on both"
    )]
    Version {
        /// Its protocol.
        theirs: u32,
        /// Its version of plumb.
        tool: String,
    },
}

/// Writes messages.
#[derive(Debug)]
pub struct Sender<W> {
    to: W,
}

impl<W: Write> Sender<W> {
    /// Writes to `to`; each message is flushed.
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When the bytes cannot be written.
    pub fn send<M: Serialize>(&mut self, message: &M) -> Result<(), ChannelError> {
        let mut line = serde_json::to_vec(message).map_err(std::io::Error::from)?;
        line.push(b'\n');
        self.to.write_all(&line)?;
        self.to.flush()?;
        Ok(())
    }
}

/// Reads messages.
#[derive(Debug)]
pub struct Receiver<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    limit: LineLimit,
}

impl<R: Read> Receiver<R> {
    /// Reads from `from`, whose lines are trusted to be as long as any.
    pub fn new(from: R) -> Self {
        Self::bounded(from, LineLimit::new(MAX_LINE))
    }

    /// Reads from `from`, whose lines are no longer than this.
    pub fn bounded(from: R, limit: LineLimit) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), limit }
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// [`ChannelError::Closed`] at the end of the stream, the others as they say.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<M, ChannelError> {
        self.read_line()?;
        let read = serde_json::from_slice(&self.line).map_err(|error| ChannelError::Malformed {
            reason: error.to_string().chars().take(QUOTED).collect(),
            start: String::from_utf8_lossy(&self.line[..self.line.len().min(60)]).trim_end().to_owned(),
        });
        // What one long line took is not kept for the short ones that follow.
        self.line.clear();
        self.line.shrink_to(USUAL);
        read
    }

    /// As much as is there at once, each time held against the limit.
    fn read_line(&mut self) -> Result<(), ChannelError> {
        loop {
            let there = match self.from.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                there => there?,
            };
            let end = there.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(there.len(), |end| end + 1);
            if used == 0 {
                return Err(ChannelError::Closed);
            }
            let limit = self.limit.get();
            if self.line.len() + used > limit {
                return Err(ChannelError::TooLong { limit });
            }
            self.line.extend_from_slice(&there[..used]);
            self.from.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

impl Hello {
    /// This side's hello.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self { protocol: VERSION, tool: tool.into() }
    }

    /// Accepts or refuses the other side's.
    ///
    /// # Errors
    /// [`ChannelError::Version`] when the versions differ.
    pub fn accept(self) -> Result<(), ChannelError> {
        if self.protocol == VERSION {
            Ok(())
        } else {
            Err(ChannelError::Version { theirs: self.protocol, tool: self.tool })
        }
    }
}

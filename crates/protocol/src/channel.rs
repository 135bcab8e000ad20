//! A channel of JSON messages, one per line, with a maximum line length.

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

/// The maximum length of a line, enough for a trial of 128 connections with frequent samples.
pub const MAX_LINE: usize = 64 << 20;

/// Can be changed while receiving.
#[derive(Debug, Clone)]
pub struct LineLimit(Arc<AtomicUsize>);

impl LineLimit {
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes.min(MAX_LINE))))
    }

    pub fn set(&self, bytes: usize) {
        self.0.store(bytes.min(MAX_LINE), Ordering::Relaxed);
    }

    pub fn raise_to(&self, bytes: usize) {
        self.0.fetch_max(bytes.min(MAX_LINE), Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

const KEPT_CAPACITY: usize = 64 << 10;
/// Parser errors may quote the whole line, so they are cut to this length.
const MAX_QUOTE: usize = 200;

#[derive(Debug, Error)]
pub enum ChannelError {
    #[error("the channel broke: {0}")]
    Io(#[from] std::io::Error),
    #[error("the peer closed the channel")]
    Closed,
    #[error("not a message of protocol {VERSION}: {reason}; it starts with `{start}`")]
    Malformed { reason: String, start: String },
    #[error("a message exceeds the limit of {limit} bytes for the requested data")]
    TooLong { limit: usize },
    #[error(
        "the peer uses protocol {theirs} (plumb {tool}), but this side uses {VERSION}; \
         install the same version of plumb on both"
    )]
    Version { theirs: u32, tool: String },
}

#[derive(Debug)]
pub struct Sender<W> {
    to: W,
}

impl<W: Write> Sender<W> {
    pub fn new(to: W) -> Self {
        Self { to }
    }

    pub fn send<M: Serialize>(&mut self, message: &M) -> Result<(), ChannelError> {
        let mut line = serde_json::to_vec(message).map_err(std::io::Error::from)?;
        line.push(b'\n');
        self.to.write_all(&line)?;
        self.to.flush()?;
        Ok(())
    }
}

#[derive(Debug)]
pub struct Receiver<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    limit: LineLimit,
}

impl<R: Read> Receiver<R> {
    pub fn new(from: R) -> Self {
        Self::bounded(from, LineLimit::new(MAX_LINE))
    }

    pub fn bounded(from: R, limit: LineLimit) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), limit }
    }

    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<M, ChannelError> {
        self.read_line()?;
        let read = serde_json::from_slice(&self.line).map_err(|error| ChannelError::Malformed {
            reason: error.to_string().chars().take(MAX_QUOTE).collect(),
            start: String::from_utf8_lossy(&self.line[..self.line.len().min(60)]).trim_end().to_owned(),
        });
        self.line.clear();
        self.line.shrink_to(KEPT_CAPACITY);
        read
    }

    fn read_line(&mut self) -> Result<(), ChannelError> {
        loop {
            let available = match self.from.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                available => available?,
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(available.len(), |end| end + 1);
            if used == 0 {
                return Err(ChannelError::Closed);
            }
            let limit = self.limit.get();
            if self.line.len() + used > limit {
                return Err(ChannelError::TooLong { limit });
            }
            self.line.extend_from_slice(&available[..used]);
            self.from.consume(used);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

impl Hello {
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self { protocol: VERSION, tool: tool.into() }
    }

    /// Fails if the protocol versions differ.
    pub fn accept(self) -> Result<(), ChannelError> {
        if self.protocol == VERSION {
            Ok(())
        } else {
            Err(ChannelError::Version { theirs: self.protocol, tool: self.tool })
        }
    }
}

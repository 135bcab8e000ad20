//! A session: an ordered, bounded byte stream in each direction between a controller and an agent. If a message is
//! lost, the session ends.

use std::{
    io::{self, Read, Write},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use crate::{
    connection::{Connection, Incoming, Subscription},
    frame::FrameKind,
    seal::{Opener, Seal},
    window::{CHUNK, SessionEnd, Window},
};

const GLANCE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: Arc<Connection>,
    outgoing: String,
    /// Locked before `window`, so that messages are sent in the order of their numbers.
    sending: Mutex<Seal>,
    window: Mutex<Window>,
    changed: Condvar,
}

impl Session {
    pub(crate) fn begin(
        connection: &Arc<Connection>,
        incoming: Subscription,
        outgoing: String,
        (seal, opener): (Seal, Opener),
    ) -> io::Result<(Self, StreamReader, StreamWriter)> {
        let shared = Arc::new(Shared {
            connection: Arc::clone(connection),
            outgoing,
            sending: Mutex::new(seal),
            window: Mutex::new(Window::new(Instant::now())),
            changed: Condvar::new(),
        });
        let listener = Arc::clone(&shared);
        thread::Builder::new().name("session".to_owned()).spawn(move || listener.listen(incoming, opener))?;
        let reader = StreamReader { shared: Arc::clone(&shared), chunk: Vec::new(), read: 0 };
        let writer = StreamWriter { shared: Arc::clone(&shared) };
        Ok((Self { shared }, reader, writer))
    }

    pub(crate) fn end(&self, output: &str) {
        self.finish(FrameKind::End, SessionEnd::Complete(output.to_owned()));
    }

    pub(crate) fn abort(&self, reason: &str) {
        self.finish(FrameKind::Break, SessionEnd::Broken(reason.to_owned()));
    }

    fn finish(&self, kind: FrameKind, end: SessionEnd) {
        if self.shared.window.lock().end().is_some() {
            return;
        }
        let (SessionEnd::Complete(text) | SessionEnd::Broken(text)) = &end;
        // If this fails, the peer finds out when its lease expires.
        let text = text.as_bytes();
        let _ = self.shared.send(kind, &text[text.len().saturating_sub(CHUNK)..]);
        self.shared.finish(end);
        self.shared.connection.flush();
    }

    #[must_use]
    pub fn last_output(&self) -> Option<String> {
        match self.shared.window.lock().end()? {
            SessionEnd::Complete(text) => Some(text.clone()),
            SessionEnd::Broken(_) => None,
        }
    }

    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.shared.connection.away().map(|server| format!("the NATS server {server} is unreachable"))
    }

    pub(crate) fn end_reason(&self) -> Option<String> {
        let window = self.shared.window.lock();
        let (SessionEnd::Complete(text) | SessionEnd::Broken(text)) = window.end()?;
        Some(text.clone())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abort("closed by its controller");
    }
}

impl Shared {
    fn listen(&self, mut incoming: Subscription, mut opener: Opener) {
        while self.window.lock().end().is_none() {
            let within = self.window.lock().due(Instant::now()).min(GLANCE);
            match incoming.next(within) {
                Incoming::Message(message) => match opener.open(&message.payload) {
                    Some(frame) => self.window.lock().take(frame, Instant::now()),
                    None => self.finish(SessionEnd::Broken(
                        "received a message that the controller did not sign, or a copy".to_owned(),
                    )),
                },
                Incoming::Nothing => {}
                Incoming::Ended => {
                    self.finish(SessionEnd::Broken("the connection to the NATS server ended".into()));
                }
            }
            self.window.lock().expire(Instant::now(), self.connection.away());
            self.changed.notify_all();
            if self.window.lock().due(Instant::now()).is_zero() {
                self.renew();
            }
        }
        // Notifies the peer of a local error, unless the peer itself aborted the session.
        let broken = self.window.lock().end().and_then(|end| match end {
            SessionEnd::Broken(text) => Some(text.clone()),
            SessionEnd::Complete(_) => None,
        });
        if let Some(text) = broken {
            // If this fails, the peer finds out when its lease expires.
            let _ = self.send(FrameKind::Break, text.as_bytes());
        }
    }

    fn renew(&self) {
        if let Err(error) = self.send(FrameKind::Renewal, b"") {
            self.finish(SessionEnd::Broken(error.to_string()));
        }
    }

    fn send(&self, kind: FrameKind, bytes: &[u8]) -> io::Result<()> {
        let mut seal = self.sending.lock();
        let message = seal.seal(self.window.lock().speak(kind, bytes, Instant::now()));
        self.connection.publish(&self.outgoing, &message).map_err(io::Error::other)
    }

    fn finish(&self, end: SessionEnd) {
        self.window.lock().finish(end);
        self.changed.notify_all();
    }
}

#[derive(Debug)]
pub struct StreamReader {
    shared: Arc<Shared>,
    chunk: Vec<u8>,
    read: usize,
}

impl StreamReader {
    fn next(&self) -> io::Result<Option<Vec<u8>>> {
        let mut window = self.shared.window.lock();
        loop {
            if let Some(chunk) = window.next() {
                let report = window.should_report();
                drop(window);
                if report {
                    self.shared.renew();
                }
                return Ok(Some(chunk));
            }
            match window.end() {
                _ if window.is_complete() => return Ok(None),
                Some(SessionEnd::Complete(_)) => return Ok(None),
                Some(SessionEnd::Broken(text)) => return Err(io::Error::other(text.clone())),
                None => self.shared.changed.wait(&mut window),
            }
        }
    }
}

impl Read for StreamReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.chunk.len() {
            match self.next()? {
                Some(chunk) => (self.chunk, self.read) = (chunk, 0),
                None => return Ok(0),
            }
        }
        let read = (&self.chunk[self.read..]).read(buffer)?;
        self.read += read;
        Ok(read)
    }
}

#[derive(Debug)]
pub struct StreamWriter {
    shared: Arc<Shared>,
}

impl Write for StreamWriter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let chunk = &buffer[..buffer.len().min(CHUNK)];
        if chunk.is_empty() {
            return Ok(0);
        }
        let mut window = self.shared.window.lock();
        loop {
            match window.end() {
                Some(SessionEnd::Complete(text) | SessionEnd::Broken(text)) => {
                    return Err(io::Error::new(io::ErrorKind::BrokenPipe, text.clone()));
                }
                None if window.has_room() => break,
                None => self.shared.changed.wait(&mut window),
            }
        }
        drop(window);
        self.shared.send(FrameKind::Chunk, chunk)?;
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for StreamWriter {
    fn drop(&mut self) {
        if self.shared.window.lock().end().is_none() {
            // If this fails, the peer finds out when its lease expires.
            let _ = self.shared.send(FrameKind::LastChunk, b"");
        }
    }
}

//! A session: a byte stream each way between a controller and an agent, over two subjects. It is ordered and bounded, and what is
//! lost ends it. Must not know what the bytes are.

use std::{
    io::{self, Read, Write},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    connection::{Connection, Incoming, Subscription},
    frame::FrameKind,
    seal::{Opener, Seal},
    window::{CHUNK, SessionEnd, Window},
};

/// How often one that waits looks whether the session is over.
const GLANCE: Duration = Duration::from_millis(200);

/// A session. Dropping it ends it, which the other side is told.
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: Arc<Connection>,
    /// The subject of what is sent.
    outgoing: String,
    /// Taken before `window`: what is sent is sent in the order of its numbers.
    sending: Mutex<Seal>,
    window: Mutex<Window>,
    changed: Condvar,
}

impl Session {
    /// Begins one whose other side is heard on `incoming`.
    ///
    /// # Errors
    /// When no thread can be started for it.
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

    /// Ends it when all was sent, with what was said last.
    pub(crate) fn end(&self, said: &str) {
        self.finish(FrameKind::End, SessionEnd::Complete(said.to_owned()));
    }

    /// Breaks it off, and tells the other side why.
    pub(crate) fn abort(&self, because: &str) {
        self.finish(FrameKind::Break, SessionEnd::Broken(because.to_owned()));
    }

    fn finish(&self, kind: FrameKind, end: SessionEnd) {
        if self.shared.window().end().is_some() {
            return;
        }
        let (SessionEnd::Complete(said) | SessionEnd::Broken(said)) = &end;
        // It is noticed by silence otherwise.
        let said = said.as_bytes();
        let _ = self.shared.send(kind, &said[said.len().saturating_sub(CHUNK)..]);
        self.shared.finish(end);
        self.shared.connection.flush();
    }

    /// What the other side said last, if it has come to its end.
    #[must_use]
    pub fn last_output(&self) -> Option<String> {
        match self.shared.window().end()? {
            SessionEnd::Complete(said) => Some(said.clone()),
            SessionEnd::Broken(_) => None,
        }
    }

    /// What keeps the other side from being heard just now, where that is known.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.shared.connection.away().map(|server| format!("the NATS server {server} is away"))
    }

    /// Why it is over, if it is.
    pub(crate) fn said(&self) -> Option<String> {
        let window = self.shared.window();
        let (SessionEnd::Complete(said) | SessionEnd::Broken(said)) = window.end()?;
        Some(said.clone())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abort("its controller is done with it");
    }
}

impl Shared {
    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&self, mut incoming: Subscription, mut opener: Opener) {
        while self.window().end().is_none() {
            let within = self.window().due(Instant::now()).min(GLANCE);
            match incoming.next(within) {
                Incoming::Message(message) => match opener.open(&message.payload) {
                    Some(frame) => self.window().take(frame, Instant::now()),
                    None => self.finish(SessionEnd::Broken(
                        "received a message that the controller did not sign, or a copy".to_owned(),
                    )),
                },
                Incoming::Nothing => {}
                Incoming::Ended => {
                    self.finish(SessionEnd::Broken("the connection to the NATS server ended".into()));
                }
            }
            self.window().expire(Instant::now(), self.connection.away());
            self.changed.notify_all();
            if self.window().due(Instant::now()).is_zero() {
                self.renew();
            }
        }
        // What was noticed here alone the other side is told; one that broke off itself takes no more.
        let broken = self.window().end().and_then(|end| match end {
            SessionEnd::Broken(said) => Some(said.clone()),
            SessionEnd::Complete(_) => None,
        });
        if let Some(said) = broken {
            // It is noticed by silence otherwise.
            let _ = self.send(FrameKind::Break, said.as_bytes());
        }
    }

    fn renew(&self) {
        if let Err(error) = self.send(FrameKind::Renewal, b"") {
            self.finish(SessionEnd::Broken(error.to_string()));
        }
    }

    fn send(&self, kind: FrameKind, bytes: &[u8]) -> io::Result<()> {
        let mut seal = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let message = seal.seal(self.window().speak(kind, bytes, Instant::now()));
        self.connection.publish(&self.outgoing, &message).map_err(io::Error::other)
    }

    fn finish(&self, end: SessionEnd) {
        self.window().finish(end);
        self.changed.notify_all();
    }

    fn wait<'a>(&self, window: MutexGuard<'a, Window>) -> MutexGuard<'a, Window> {
        self.changed.wait(window).unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the other side sends.
#[derive(Debug)]
pub struct StreamReader {
    shared: Arc<Shared>,
    chunk: Vec<u8>,
    /// Bytes of `chunk` that were read.
    read: usize,
}

impl StreamReader {
    /// The next chunk; `None` at the end.
    fn next(&self) -> io::Result<Option<Vec<u8>>> {
        let mut window = self.shared.window();
        loop {
            if let Some(chunk) = window.next() {
                let tell = window.should_tell();
                drop(window);
                if tell {
                    self.shared.renew();
                }
                return Ok(Some(chunk));
            }
            match window.end() {
                _ if window.is_complete() => return Ok(None),
                Some(SessionEnd::Complete(_)) => return Ok(None),
                Some(SessionEnd::Broken(said)) => return Err(io::Error::other(said.clone())),
                None => window = self.shared.wait(window),
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

/// What is sent to the other side, which is told when this is dropped.
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
        let mut window = self.shared.window();
        loop {
            match window.end() {
                Some(SessionEnd::Complete(said) | SessionEnd::Broken(said)) => {
                    return Err(io::Error::new(io::ErrorKind::BrokenPipe, said.clone()));
                }
                None if window.has_room() => break,
                None => window = self.shared.wait(window),
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
        if self.shared.window().end().is_none() {
            // It is noticed by silence otherwise.
            let _ = self.shared.send(FrameKind::LastChunk, b"");
        }
    }
}

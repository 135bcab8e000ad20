//! The stream to a guest's agent, which connects during boot. The stream is closed when the monitor exits or
//! the write half is dropped.

use std::{
    io::{self, PipeReader, Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    sync::Arc,
    thread,
};

use parking_lot::{Condvar, Mutex};
use sys::poller::{Interest, Poller};

pub(super) struct GuestStream {
    shared: Arc<SharedState>,
}

pub(super) struct FromGuest {
    shared: Arc<SharedState>,
    stream: Option<UnixStream>,
}

pub(super) struct ToGuest {
    shared: Arc<SharedState>,
    stream: Option<UnixStream>,
}

struct SharedState {
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    Waiting(Vec<u8>),
    Connected(UnixStream),
    Closed,
}

impl GuestStream {
    pub(super) fn awaited(listener: UnixListener, ended: PipeReader) -> Self {
        let state = Mutex::new(State::Waiting(Vec::new()));
        let shared = Arc::new(SharedState { state, changed: Condvar::new() });
        let there = Arc::clone(&shared);
        thread::spawn(move || there.set(accept(&listener, &ended)));
        Self { shared }
    }

    pub(super) fn halves(self) -> (FromGuest, ToGuest) {
        let from = FromGuest { shared: Arc::clone(&self.shared), stream: None };
        (from, ToGuest { shared: self.shared, stream: None })
    }
}

fn accept(listener: &UnixListener, ended: &PipeReader) -> io::Result<UnixStream> {
    const GUEST: u64 = 0;
    const END: u64 = 1;
    let mut poller = Poller::new(2)?;
    poller.add(listener, GUEST, Interest::Read)?;
    poller.add(ended, END, Interest::Read)?;
    let mut ready = Vec::new();
    while ready.is_empty() {
        poller.wait(&mut ready, None)?;
    }
    // Accept a pending connection first: a guest that connected and then exited may have sent an error.
    if ready.iter().any(|ready| ready.token == GUEST) {
        Ok(listener.accept()?.0)
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the monitor has exited"))
    }
}

impl SharedState {
    fn set(&self, stream: io::Result<UnixStream>) {
        let mut state = self.state.lock();
        *state = match (&*state, stream) {
            // The buffer contains only a greeting, which fits into the socket buffer.
            (State::Waiting(buffer), Ok(stream)) if (&stream).write_all(buffer).is_ok() => {
                State::Connected(stream)
            }
            _ => State::Closed,
        };
        self.changed.notify_all();
    }

    fn stream(&self) -> io::Result<Option<UnixStream>> {
        let awaited = |state: &mut State| matches!(state, State::Waiting(_));
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, awaited);
        match &*state {
            State::Connected(stream) => stream.try_clone().map(Some),
            _ => Ok(None),
        }
    }
}

impl Read for FromGuest {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.stream.is_none() {
            self.stream = self.shared.stream()?;
        }
        self.stream.as_mut().map_or(Ok(0), |stream| stream.read(bytes))
    }
}

impl Write for ToGuest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stream.is_none() {
            let mut state = self.shared.state.lock();
            match &mut *state {
                State::Waiting(buffer) => {
                    buffer.extend_from_slice(bytes);
                    return Ok(bytes.len());
                }
                State::Connected(stream) => self.stream = Some(stream.try_clone()?),
                State::Closed => {}
            }
        }
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the guest's agent never connected");
        self.stream.as_mut().ok_or_else(gone)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ToGuest {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if let State::Connected(stream) = &*state {
            // Fails only if the peer has already closed the connection.
            let _ = stream.shutdown(Shutdown::Both);
        }
        *state = State::Closed;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        folder: tempfile::TempDir,
        life: io::PipeWriter,
        from: FromGuest,
        to: ToGuest,
    }

    fn case() -> Case {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("writable");
        let (ended, life) = io::pipe().expect("pipes");
        let (from, to) = GuestStream::awaited(listener, ended).halves();
        Case { folder, life, from, to }
    }

    fn rest(mut from: impl Read) -> String {
        let mut text = String::new();
        from.read_to_string(&mut text).expect("text to the end");
        text
    }

    #[test]
    fn sends_buffered_bytes_first() {
        let Case { folder, life, mut from, mut to } = case();
        to.write_all(b"hello, ").expect("buffered");
        let mut guest = UnixStream::connect(folder.path().join("socket")).expect("the socket exists");
        guest.write_all(b"hello, host").expect("connected");
        let (mut first, mut answer) = ([0; 7], [0; 11]);
        guest.read_exact(&mut first).expect("buffered");
        from.read_exact(&mut answer).expect("it was sent");
        assert_eq!(answer, *b"hello, host");
        to.write_all(b"guest").expect("connected");
        drop(to);
        assert_eq!([&first[..], rest(&guest).as_bytes()].concat(), b"hello, guest");
        assert_eq!(rest(from), "");
        drop(life);
    }

    #[test]
    fn closes_stream_if_monitor_exits_before_guest_connects() {
        let Case { life, from, mut to, .. } = case();
        to.write_all(b"hello").expect("buffered");
        drop(life);
        assert_eq!(rest(from), "");
        assert_eq!(to.write_all(b"more").expect_err("closed").kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn dropping_write_half_ends_wait_for_guest() {
        let Case { from, to, life, .. } = case();
        drop(to);
        assert_eq!(rest(from), "");
        drop(life);
    }
}

//! The stream to a guest's agent, which connects when it is there: until then reading waits, and what is written is kept.
//! It ends for both halves when the monitor ends, or when the half that writes is dropped.

use std::{
    io::{self, PipeReader, Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use sys::poller::{Interest, Poller};

/// A stream to an agent that may not yet be there.
pub(super) struct GuestStream {
    shared: Arc<SharedState>,
}

/// The half that reads. An agent that never comes has said nothing.
pub(super) struct FromGuest {
    shared: Arc<SharedState>,
    stream: Option<UnixStream>,
}

/// The half that writes.
pub(super) struct ToGuest {
    shared: Arc<SharedState>,
    stream: Option<UnixStream>,
}

struct SharedState {
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    /// With what is to be said first.
    Awaited(Vec<u8>),
    There(UnixStream),
    Gone,
}

impl GuestStream {
    /// The first stream that connects to `listener` before `ended` does.
    pub(super) fn awaited(listener: UnixListener, ended: PipeReader) -> Self {
        let state = Mutex::new(State::Awaited(Vec::new()));
        let shared = Arc::new(SharedState { state, changed: Condvar::new() });
        let there = Arc::clone(&shared);
        thread::spawn(move || there.becomes(accept(&listener, &ended)));
        Self { shared }
    }

    pub(super) fn halves(self) -> (FromGuest, ToGuest) {
        let from = FromGuest { shared: Arc::clone(&self.shared), stream: None };
        (from, ToGuest { shared: self.shared, stream: None })
    }
}

/// The first stream, or why there will be none.
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
    // One that connected and ended at once may have said why.
    if ready.iter().any(|ready| ready.token == GUEST) {
        Ok(listener.accept()?.0)
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the monitor has ended"))
    }
}

impl SharedState {
    fn becomes(&self, stream: io::Result<UnixStream>) {
        let mut state = self.lock();
        *state = match (&*state, stream) {
            // It is a greeting: a socket has room for it.
            (State::Awaited(said), Ok(stream)) if (&stream).write_all(said).is_ok() => State::There(stream),
            _ => State::Gone,
        };
        self.changed.notify_all();
    }

    /// The stream, once it is there; `None` if it never will be.
    fn stream(&self) -> io::Result<Option<UnixStream>> {
        let awaited = |state: &mut State| matches!(state, State::Awaited(_));
        let state = self.changed.wait_while(self.lock(), awaited).unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::There(stream) => stream.try_clone().map(Some),
            _ => Ok(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
            let mut state = self.shared.lock();
            match &mut *state {
                State::Awaited(said) => {
                    said.extend_from_slice(bytes);
                    return Ok(bytes.len());
                }
                State::There(stream) => self.stream = Some(stream.try_clone()?),
                State::Gone => {}
            }
        }
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the guest's agent never came");
        self.stream.as_mut().ok_or_else(gone)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ToGuest {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if let State::There(stream) = &*state {
            // It fails only when the other side is gone.
            let _ = stream.shutdown(Shutdown::Both);
        }
        *state = State::Gone;
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
        let mut said = String::new();
        from.read_to_string(&mut said).expect("text to the end");
        said
    }

    #[test]
    fn what_was_said_before_the_guest_came_is_said_to_it_first() {
        let Case { folder, life, mut from, mut to } = case();
        to.write_all(b"hello, ").expect("kept");
        let mut guest = UnixStream::connect(folder.path().join("socket")).expect("it is awaited");
        guest.write_all(b"hello, host").expect("connected");
        let (mut first, mut answer) = ([0; 7], [0; 11]);
        guest.read_exact(&mut first).expect("kept for it");
        from.read_exact(&mut answer).expect("it was said");
        assert_eq!(answer, *b"hello, host");
        to.write_all(b"guest").expect("connected");
        drop(to);
        assert_eq!([&first[..], rest(&guest).as_bytes()].concat(), b"hello, guest");
        assert_eq!(rest(from), "");
        drop(life);
    }

    #[test]
    fn a_monitor_that_ends_before_its_guest_comes_ends_the_stream() {
        let Case { life, from, mut to, .. } = case();
        to.write_all(b"hello").expect("kept");
        drop(life);
        assert_eq!(rest(from), "");
        assert_eq!(to.write_all(b"more").expect_err("nobody comes").kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn hanging_up_ends_the_wait_for_the_guest() {
        let Case { from, to, life, .. } = case();
        drop(to);
        assert_eq!(rest(from), "");
        drop(life);
    }
}

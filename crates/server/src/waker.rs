//! Wakes the event loop from other threads.

use std::{
    io::{Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::Arc,
};

use traffic::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Waker(Arc<UnixStream>);

#[derive(Debug)]
pub(super) struct WakeReceiver(UnixStream);

pub(super) fn pair() -> Result<(Waker, WakeReceiver)> {
    let named = || "a socket pair for wake-ups";
    let (wake, receiver) = UnixStream::pair().map_err(Error::socket("open", named))?;
    for end in [&wake, &receiver] {
        end.set_nonblocking(true).map_err(Error::socket("prepare", named))?;
    }
    Ok((Waker(Arc::new(wake)), WakeReceiver(receiver)))
}

impl Waker {
    pub(super) fn wake(&self) {
        // If the buffer is full, a wake-up is already pending.
        let _ = (&*self.0).write(&[1]);
    }
}

impl WakeReceiver {
    pub(super) fn clear(&self) {
        while matches!((&self.0).read(&mut [0; 256]), Ok(256)) {}
    }
}

impl AsFd for WakeReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

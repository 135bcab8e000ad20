//! Waking the event loop from other threads.

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

/// What the event loop waits on.
#[derive(Debug)]
pub(super) struct WakeReceiver(UnixStream);

pub(super) fn pair() -> Result<(Waker, WakeReceiver)> {
    let named = || "a pair of sockets to wake the server";
    let (wake, receiver) = UnixStream::pair().map_err(Error::socket("open", named))?;
    for end in [&wake, &receiver] {
        end.set_nonblocking(true).map_err(Error::socket("prepare", named))?;
    }
    Ok((Waker(Arc::new(wake)), WakeReceiver(receiver)))
}

impl Waker {
    pub(super) fn wake(&self) {
        // Full: it is awake already.
        let _ = (&*self.0).write(&[1]);
    }
}

impl WakeReceiver {
    /// Forgets what has come, so that the next call wakes again.
    pub(super) fn clear(&self) {
        while matches!((&self.0).read(&mut [0; 256]), Ok(256)) {}
    }
}

impl AsFd for WakeReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

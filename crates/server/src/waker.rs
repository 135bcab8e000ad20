//! Waking the door from the threads of its clients.

use std::{
    io::{Read, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::net::UnixStream,
    },
    sync::Arc,
};

use traffic::{Error, Result};

/// Wakes the door; every client has one.
#[derive(Debug, Clone)]
pub(super) struct Poke(Arc<UnixStream>);

/// The door's end.
#[derive(Debug)]
pub(super) struct Poked(UnixStream);

pub(super) fn pair() -> Result<(Poke, Poked)> {
    let named = || "a pair of sockets to wake the server";
    let (poke, poked) = UnixStream::pair().map_err(Error::socket("open", named))?;
    for end in [&poke, &poked] {
        end.set_nonblocking(true).map_err(Error::socket("prepare", named))?;
    }
    Ok((Poke(Arc::new(poke)), Poked(poked)))
}

impl Poke {
    pub(super) fn poke(&self) {
        // Full: the door is awake already.
        let _ = (&*self.0).write(&[1]);
    }
}

impl Poked {
    /// Forgets what has come, so that the next poke wakes again.
    pub(super) fn clear(&self) {
        while matches!((&self.0).read(&mut [0; 256]), Ok(256)) {}
    }
}

impl AsFd for Poked {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

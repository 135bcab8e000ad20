//! Makes Ctrl-C and SIGTERM request an orderly exit.

use std::{
    os::unix::net::UnixStream,
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
    low_level::pipe,
};

/// Further signals have no effect, because some tools signal both the process and its group.
pub(crate) fn set_on_signal(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(stop)).context("cannot install signal handlers")?;
    }
    Ok(())
}

/// Like [`set_on_signal`], but writes a byte to a stream that the caller can poll.
pub(crate) fn stream() -> anyhow::Result<UnixStream> {
    let (stop, signalled) = UnixStream::pair().context("cannot install signal handlers")?;
    for signal in [SIGINT, SIGTERM] {
        let end = signalled.try_clone().context("cannot install signal handlers")?;
        pipe::register(signal, end).context("cannot install signal handlers")?;
    }
    Ok(stop)
}

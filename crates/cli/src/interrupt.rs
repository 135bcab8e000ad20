//! Ctrl-C and SIGTERM ask for an orderly end, which takes a moment at most.

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

/// Makes the signals that end a program raise the flag of a request to stop. One that comes twice, as from a tool
/// that signals the process and its group, asks for nothing more.
pub(crate) fn asks(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(stop)).context("cannot watch for signals")?;
    }
    Ok(())
}

/// The same as a stream, for who waits for several things at once: each signal writes a byte to it.
pub(crate) fn stream() -> anyhow::Result<UnixStream> {
    let (stop, signalled) = UnixStream::pair().context("cannot watch for signals")?;
    for signal in [SIGINT, SIGTERM] {
        let end = signalled.try_clone().context("cannot watch for signals")?;
        pipe::register(signal, end).context("cannot watch for signals")?;
    }
    Ok(stop)
}

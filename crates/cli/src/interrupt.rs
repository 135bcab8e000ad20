//! Ctrl-C and SIGTERM ask for an orderly end, which takes a moment at most.

use std::sync::{Arc, atomic::AtomicBool};

use anyhow::Context;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// Makes the signals that end a program raise the flag of a request to stop. One that comes twice, as from a tool
/// that signals the process and its group, asks for nothing more.
pub(crate) fn asks(stop: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(stop)).context("cannot watch for signals")?;
    }
    Ok(())
}

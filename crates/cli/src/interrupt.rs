//! Ctrl-C and SIGTERM ask for an orderly end, which takes a moment at most.

use anyhow::Context;
use lab::Stop;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// Makes the signals that end a program ask `stop` for an orderly end. One that comes twice, as from a tool
/// that signals the process and its group, asks for nothing more.
pub(crate) fn asks(stop: &Stop) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, stop.flag()).context("cannot watch for signals")?;
    }
    Ok(())
}

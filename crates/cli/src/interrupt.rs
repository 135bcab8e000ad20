//! Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends at once.

use std::sync::Arc;

use anyhow::Context;
use lab::Stop;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::exit::Exit;

/// Makes the signals that end a program ask `stop` for an orderly end. Agents and namespaces die with this
/// process, so that even the second signal leaves nothing behind.
pub(crate) fn asks(stop: &Stop) -> anyhow::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        let status = i32::from(Exit::Interrupted.code());
        flag::register_conditional_shutdown(signal, status, stop.flag())
            .and_then(|_| flag::register(signal, Arc::clone(&stop.flag())))
            .context("cannot watch for signals")?;
    }
    Ok(())
}

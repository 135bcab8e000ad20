//! What a process does with signals that were meant for another one.
//!
//! SIGPIPE needs nothing here: the Rust runtime ignores it before `main`, and a failed write says EPIPE.
#![expect(unsafe_code, reason = "signal(2)")]

use crate::error::{Error, Result};

/// From now on SIGINT does nothing to this process: its parent decides when it ends.
pub fn ignore_interrupt() -> Result<()> {
    // SAFETY: SIG_IGN installs no code that could run.
    if unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) } == libc::SIG_ERR {
        return Err(Error::last("ignore", "SIGINT"));
    }
    Ok(())
}

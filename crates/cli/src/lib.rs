//! The command line: one file a subcommand, each turning flags into a request and a result into words.
//!
//! Wires the rooms together. Knows nothing of netlink, QEMU's arguments, formulas or how a page is laid out.
#![expect(
    clippy::disallowed_methods,
    reason = "cli owns files named by the user, the environment and the clock"
)]

mod amount;
mod args;
mod commands;
mod dscp;
mod exit;
mod failure;
mod held;
mod host;
mod interrupt;
mod kept;
mod live;
mod output;
mod pin;
mod progress;
mod say;
mod shared;
mod source;
mod trial;
mod tried;
mod typed;
mod variants;
mod watch;
mod width;

use std::process::ExitCode;

pub use exit::Exit;

/// Runs the command line of this process to its end.
#[must_use]
pub fn main() -> ExitCode {
    let args = match args::Args::typed() {
        Ok(args) => args,
        Err(error) => return failure::usage(&error).into(),
    };
    match commands::run(&args) {
        Ok(exit) => exit.into(),
        Err(error) => failure::show(&error).into(),
    }
}

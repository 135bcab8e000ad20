//! The command line. Each subcommand turns flags into a request and formats the result.
//!
//! This crate connects the other crates. It does not contain netlink code, QEMU arguments, formulas or page layouts.

mod amount;
mod args;
mod attached;
mod bounded_file;
mod commands;
mod contest;
mod destination;
mod dscp;
mod evidence;
mod examples;
mod exit;
mod failure;
mod fleet_file;
mod global_flags;
mod host;
mod interrupt;
mod level_cap;
mod list_format;
mod live;
mod live_view;
mod misread;
mod named_database;
mod output;
mod own_counters;
mod pager;
mod pin;
mod program;
mod progress;
mod remedy_results;
mod run_reference;
mod settings;
mod source;
mod sparkline;
mod store_path;
mod stored_trials;
mod trial;
mod value_parsers;
mod variants;
mod watch;
mod width;

use std::process::ExitCode;

pub use exit::Exit;
pub use program::TOOL;

#[must_use]
pub fn main() -> ExitCode {
    let mut args = match args::Args::from_command_line() {
        Ok(args) => args,
        Err(error) => return failure::usage(error).into(),
    };
    match settings::Settings::read() {
        Ok(settings) => {
            output::use_colours(settings.colour);
            args.fill(settings);
        }
        Err(error) => return failure::show(&error).into(),
    }
    match args.run() {
        Ok(exit) => exit.into(),
        Err(error) => failure::show(&error).into(),
    }
}

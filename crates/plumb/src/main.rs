//! Chooses a personality: the command line, or the agent that a controller starts in an endpoint.
#![expect(clippy::disallowed_macros, reason = "an agent's last words go to standard error")]

use std::{
    env,
    io::{stdin, stdout},
    process::ExitCode,
};

fn main() -> ExitCode {
    match env::args_os().nth(1) {
        Some(first) if first == "agent" => run_agent(),
        _ => cli::main(),
    }
}

fn run_agent() -> ExitCode {
    match agent::run(stdin(), stdout(), env!("CARGO_PKG_VERSION")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("plumb agent: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! Chooses a personality: the command line, the agent that a controller starts in an endpoint, or the first process of a guest.
#![expect(clippy::disallowed_macros, reason = "an agent's last words go to standard error")]

use std::{
    env, fmt,
    io::{stdin, stdout},
    process::{self, ExitCode},
};

/// What the kernel of a guest calls the first process of its image; in a container, `plumb` may be the first one too.
const INIT: &str = "/init";

fn main() -> ExitCode {
    if process::id() == 1 && env::args_os().next().is_some_and(|name| name == INIT) {
        return ended(agent::run_as_first_process(|input, output| {
            agent::run(input, output, env!("CARGO_PKG_VERSION"))
        }));
    }
    match env::args_os().nth(1) {
        Some(first) if first == "agent" => run_agent(),
        _ => cli::main(),
    }
}

fn run_agent() -> ExitCode {
    ended(agent::run(stdin(), stdout(), env!("CARGO_PKG_VERSION")))
}

fn ended(result: Result<(), impl fmt::Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("plumb agent: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! Selects a role: the command line, an agent, or a guest's first process. A guest's first process acts as an agent
//! or executes a nested run.
#![expect(clippy::disallowed_macros, reason = "an agent's last output goes to standard error")]

use std::{
    env, fmt,
    fs::File,
    io::{stdin, stdout},
    process::{self, ExitCode},
};

use agent::HostPolicy;

/// The path of a guest's first process. Checking for PID 1 is not enough: in a container, `plumb` may have it too.
const INIT: &str = "/init";
/// This program (proc_pid_exe(5)).
const PROGRAM: &str = "/proc/self/exe";
const USAGE: &str = "\
Serves a controller on standard input and output, or controllers that connect to the virtio-serial port NAME of this virtual machine.";
/// Exit status for wrong arguments (sysexits.h).
const MISUSE: u8 = 64;

fn main() -> ExitCode {
    if process::id() == 1 && env::args_os().next().is_some_and(|name| name == INIT) {
        return ended(agent::run_as_first_process(if conducts() { run_nested } else { obey }));
    }
    match env::args_os().nth(1) {
        Some(first) if first == "agent" => {
            let words = env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned());
            run_agent(&words.collect::<Vec<_>>())
        }
        _ => cli::main(),
    }
}

/// Returns whether the kernel command line selects a nested run. The kernel passes unknown words to the first
/// process.
fn conducts() -> bool {
    env::args().next_back().is_some_and(|word| word == protocol::guest::CONDUCT)
}

fn run_nested(input: File, output: File) -> anyhow::Result<()> {
    Ok(lab::nested_run(input, output, PROGRAM.as_ref(), cli::TOOL)?)
}

fn obey(input: File, output: File) -> anyhow::Result<()> {
    agent::run(input, output, cli::TOOL, &HostPolicy::default())
}

fn obey_under(policy: &str) -> anyhow::Result<()> {
    agent::run(stdin(), stdout(), cli::TOOL, &HostPolicy::read(policy)?)
}

fn run_agent(words: &[String]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => ended(agent::run(stdin(), stdout(), cli::TOOL, &HostPolicy::default())),
        [HostPolicy::FLAG, policy] => ended(obey_under(policy)),
        ["--port", port] => {
            let mut report = |error: &anyhow::Error| eprintln!("plumb agent: {error:#}");
            ended(agent::serve_port(port, cli::TOOL, &mut report).map(|never| match never {}))
        }
        _ => {
            eprintln!("usage: plumb agent [--port NAME]\n\n{USAGE}");
            ExitCode::from(MISUSE)
        }
    }
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

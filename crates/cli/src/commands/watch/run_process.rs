//! Runs each measurement in a `plumb run` process, so that a crash of a run does not end the watch.

use std::{path::Path, process::Command, thread, time::Duration};

use anyhow::Context;
use lab::Stop;
use machine::Subprocess;
use samples::RunId;
use watch::RunEnd;

use crate::{exit::Exit, output, program::PROGRAM};

pub(super) const GLANCE: Duration = Duration::from_millis(50);
/// The start of the message that a run prints while it waits for another run.
const WAITS: &str = "note: waiting for ";
const ERROR: &str = "error: ";

pub(super) fn measure(
    scenario: &str,
    resume: Option<&RunId>,
    db: &Path,
    stop: &Stop,
) -> anyhow::Result<RunEnd> {
    let mut command = Command::new(PROGRAM);
    // Pass the address in the environment, because it may contain a password, and other users can see arguments.
    command.args(["run", "--quiet", "--plain"]).env("PLUMB_DB", db);
    match resume {
        Some(run) => command.arg(format!("--resume={run}")),
        None => command.args(["--", scenario]),
    };
    let label = format!("the run of {scenario}");
    let mut run = Subprocess::start(&mut command, &label, Vec::new(), forward)?;
    let mut stopping = false;
    let status = loop {
        if let Some(status) = run.ended().with_context(|| format!("cannot wait for {label}"))? {
            break status;
        }
        if stop.is_asked() && !stopping {
            run.terminate();
            stopping = true;
        }
        thread::sleep(GLANCE);
    };
    if status.success() {
        return Ok(RunEnd::Stored(RunId(run.output().trim().to_owned())));
    }
    if stopping {
        return Ok(RunEnd::Interrupted);
    }
    if status.code() == Some(i32::from(Exit::Interrupted.code())) {
        return Ok(RunEnd::Failed("interrupted by another process".to_owned()));
    }
    let reason = reason(&run.errors()).unwrap_or_else(|| format!("{status}, without a message"));
    Ok(RunEnd::Failed(reason))
}

fn reason(output: &str) -> Option<String> {
    let error =
        output.lines().rfind(|line| line.starts_with(ERROR)).or_else(|| output.lines().next_back())?;
    Some(error.strip_prefix(ERROR).unwrap_or(error).to_owned())
}

fn forward(line: &str) {
    if line.starts_with(WAITS) {
        output::aside(line);
    }
}

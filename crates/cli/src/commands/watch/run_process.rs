//! A measurement: `plumb run` as a process of its own, so that whatever ends it ends no watch. Must not know why it is made.

use std::{path::Path, process::Command, thread, time::Duration};

use anyhow::Context;
use lab::Stop;
use machine::Subprocess;
use samples::RunId;

use crate::{commands::PROGRAM, exit::Exit, output};

/// How often a wait looks whether something has happened.
pub(super) const GLANCE: Duration = Duration::from_millis(50);
/// What a run says that waits for others.
const WAITS: &str = "note: waiting for ";
/// What an error begins with where it is printed.
const ERROR: &str = "error: ";

/// What came of it.
#[derive(Debug)]
pub(super) enum RunEnd {
    /// It is kept, complete.
    Kept(RunId),
    /// Why it was not.
    Failed(String),
    /// The user asked for the end; finished trials are kept.
    Interrupted,
}

/// Measures a scenario, or what is missing of a run of it, and keeps the run in this place. Asked to stop, it ends the run as Ctrl-C
/// does.
pub(super) fn measure(
    scenario: &str,
    resume: Option<&RunId>,
    db: &Path,
    stop: &Stop,
) -> anyhow::Result<RunEnd> {
    let mut command = Command::new(PROGRAM);
    // Not as an argument, which every user can read: an address may have a password in it.
    command.args(["run", "--quiet", "--plain"]).env("PLUMB_DB", db);
    match resume {
        Some(run) => command.arg(format!("--resume={run}")),
        None => command.args(["--", scenario]),
    };
    let label = format!("the run of {scenario}");
    let mut run = Subprocess::start(&mut command, &label, Vec::new(), heard)?;
    let mut asked = false;
    let status = loop {
        if let Some(status) = run.ended().with_context(|| format!("cannot wait for {label}"))? {
            break status;
        }
        if stop.is_asked() && !asked {
            run.terminate();
            asked = true;
        }
        thread::sleep(GLANCE);
    };
    if status.success() {
        return Ok(RunEnd::Kept(RunId(run.output().trim().to_owned())));
    }
    if asked {
        return Ok(RunEnd::Interrupted);
    }
    if status.code() == Some(i32::from(Exit::Interrupted.code())) {
        return Ok(RunEnd::Failed("somebody else ended it".to_owned()));
    }
    let said = run.errors();
    let why = said.lines().rfind(|line| line.starts_with(ERROR)).or_else(|| said.lines().next_back());
    let why = why.map(|why| why.strip_prefix(ERROR).unwrap_or(why).to_owned());
    Ok(RunEnd::Failed(why.unwrap_or_else(|| format!("{status}, without a word"))))
}

fn heard(line: &str) {
    if line.starts_with(WAITS) {
        output::aside(line);
    }
}

//! Runs that were started from the page: each a process of its own, `plumb run NAME`. Must not know HTML.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use samples::UnixMillis;
use scenario::builtin::Builtin;
use sys::{child, process::Process};

use crate::time;

/// So many lines of what a run said are kept.
const MOST_LINES: usize = 40;
/// The longest line that is kept.
const LONGEST_LINE: usize = 400;

/// All that were started, in order.
#[derive(Debug)]
pub(crate) struct Starts {
    store: PathBuf,
    all: Mutex<Vec<Arc<Started>>>,
}

/// A run that was started from the page.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) scenario: &'static str,
    pub(crate) at: UnixMillis,
    child: Mutex<Child>,
    lines: Arc<Mutex<Vec<String>>>,
}

/// How far one has got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartState {
    UnderWay,
    /// It ended so: `exit status: 0`.
    Ended {
        well: bool,
        how: String,
    },
}

/// Why none was started.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// One is under way.
    Busy(&'static str),
    Failed(String),
}

impl Starts {
    pub(crate) fn new(store: &Path) -> Self {
        Self { store: store.to_owned(), all: Mutex::default() }
    }

    /// Starts a run; its number among those that were started.
    pub(crate) fn start(&self, program: &Path, scenario: &Builtin) -> Result<usize, Refusal> {
        let mut all = locked(&self.all);
        if let Some(busy) = all.iter().find(|started| started.state() == StartState::UnderWay) {
            return Err(Refusal::Busy(busy.scenario));
        }
        let at = time::now();
        let mut command = Command::new(program);
        // Not as an argument, which every user can read: an address may have a password in it.
        command.args(["run", scenario.name, "--quiet"]).env("PLUMB_DB", &self.store);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Refusal::Failed(error.to_string()))?;
        let lines = Arc::new(Mutex::new(Vec::new()));
        if let Some(output) = child.stderr.take() {
            let lines = Arc::clone(&lines);
            thread::spawn(move || keep_last(BufReader::new(output), &lines));
        }
        all.push(Arc::new(Started { scenario: scenario.name, at, child: Mutex::new(child), lines }));
        Ok(all.len() - 1)
    }

    pub(crate) fn get(&self, number: usize) -> Option<Arc<Started>> {
        locked(&self.all).get(number).cloned()
    }

    /// Asks what runs to end, as Ctrl-C does, and waits for it: finished trials are kept, and its lab goes.
    pub(crate) fn end(&self) {
        for started in locked(&self.all).iter() {
            let mut child = locked(&started.child);
            if matches!(child.try_wait(), Ok(Some(_))) {
                continue;
            }
            let process = child::start_time(child.id()).and_then(|start| Process::own(child.id(), start));
            let asked = process.and_then(|process| process.map_or(Ok(()), |process| process.terminate()));
            if asked.is_err() {
                // Its agents end with it, and with them its lab.
                let _ = child.kill();
            }
            let _ = child.wait();
        }
    }
}

impl Started {
    pub(crate) fn state(&self) -> StartState {
        match locked(&self.child).try_wait() {
            Ok(None) => StartState::UnderWay,
            Ok(Some(status)) => StartState::Ended { well: status.success(), how: status.to_string() },
            Err(error) => StartState::Ended { well: false, how: error.to_string() },
        }
    }

    /// The last lines that it said.
    pub(crate) fn said(&self) -> Vec<String> {
        locked(&self.lines).clone()
    }
}

fn keep_last(mut output: impl BufRead, lines: &Mutex<Vec<String>>) {
    let mut line = Vec::new();
    while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        let text: String = String::from_utf8_lossy(&line).trim_end().chars().take(LONGEST_LINE).collect();
        let mut lines = locked(lines);
        if lines.len() == MOST_LINES {
            lines.remove(0);
        }
        lines.push(text);
        line.clear();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_whatever_is_said() {
        let lines = Mutex::new(Vec::new());
        let said: String = (0..60).map(|number| format!("line {number}\n")).collect();
        let said = [said.as_bytes(), b"\xff\xfe no text ", "long ".repeat(1000).as_bytes()].concat();
        keep_last(&*said, &lines);
        let kept = locked(&lines).clone();
        assert_eq!((kept.len(), kept[0].as_str()), (MOST_LINES, "line 21"));
        assert!(
            kept.last().is_some_and(|line| line.contains("no text") && line.chars().count() == LONGEST_LINE)
        );
    }
}

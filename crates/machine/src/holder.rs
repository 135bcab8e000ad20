//! Processes that hold a lab after the command that raised it: found again by pid and start time.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use sys::process::Process;

/// A process, told apart from a later one of the same pid by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    /// When it started, in clock ticks since boot (proc_pid_stat(5), field 22).
    pub start_time: u64,
}

impl Holder {
    /// The calling process.
    ///
    /// # Errors
    /// When /proc cannot be read.
    pub fn this_process() -> Result<Self, sys::Error> {
        let pid = std::process::id();
        Ok(Self { pid, start_time: sys::child::start_time(pid)? })
    }

    /// Starts `command` in a session of its own and waits for the first line that it prints.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(command: &mut Command, label: &str) -> Result<String, sys::Error> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = sys::child::spawn_detached(command, label)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            // A holder that dies before it speaks leaves an empty line, which the caller takes for a failure.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        Ok(line.trim_end().to_owned())
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_alive(self) -> bool {
        sys::child::is_alive(self.pid, self.start_time)
    }

    /// Asks it to end, and ends it if it does not within `patience`. Does nothing when it is gone.
    ///
    /// # Errors
    /// When it is another user's.
    pub fn end(self, patience: Duration) -> Result<(), sys::Error> {
        let Some(process) = self.process()? else { return Ok(()) };
        process.terminate()?;
        let begun = Instant::now();
        while self.is_alive() && begun.elapsed() < patience {
            thread::sleep(Duration::from_millis(10));
        }
        if self.is_alive() { process.kill() } else { Ok(()) }
    }

    /// The process itself, so that no later one of its pid is taken for it; `None` when it is gone.
    pub(crate) fn process(self) -> Result<Option<Process>, sys::Error> {
        Process::own(self.pid, self.start_time)
    }
}

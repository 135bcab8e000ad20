//! Processes that keep a lab alive after the command that created it.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use sys::process::Process;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    /// In clock ticks since boot (proc_pid_stat(5), field 22).
    pub start_time: u64,
}

impl Holder {
    pub fn this_process() -> Result<Self, sys::Error> {
        let pid = std::process::id();
        Ok(Self { pid, start_time: sys::process::start_time(pid)? })
    }

    pub fn start(command: &mut Command, label: &str) -> Result<String, sys::Error> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = sys::child::spawn_detached(command, label)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            // If the holder exits first, the line is empty. The caller treats this as a failure.
            let _ = BufReader::new(output).read_line(&mut line);
        }
        Ok(line.trim_end().to_owned())
    }

    #[must_use]
    pub fn is_alive(self) -> bool {
        sys::process::is_alive(self.pid, self.start_time)
    }

    /// Kills the process if it is still running after `patience`. Fails if it belongs to another user.
    pub fn end(self, patience: Duration) -> Result<(), sys::Error> {
        let Some(process) = self.process()? else { return Ok(()) };
        process.terminate()?;
        let begun = Instant::now();
        while self.is_alive() && begun.elapsed() < patience {
            thread::sleep(Duration::from_millis(10));
        }
        if self.is_alive() { process.kill() } else { Ok(()) }
    }

    /// `None` if the process has exited. Never returns a later process with the same PID.
    pub(crate) fn process(self) -> Result<Option<Process>, sys::Error> {
        Process::own(self.pid, self.start_time)
    }
}

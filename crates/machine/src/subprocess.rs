//! Runs a program that exits with the thread that started it, and keeps its last output.

use std::{
    io::{self, Write},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
};

use sys::process::Process;

use crate::last_lines::LastLines;

/// A program in its own process group, killed when this is dropped.
#[derive(Debug)]
pub struct Subprocess {
    child: Child,
    process: Option<Process>,
    ended: Option<ExitStatus>,
    output: LastLines,
    errors: LastLines,
}

impl Subprocess {
    /// Calls `on_error` for each line of standard error. The kernel kills the program when the calling thread
    /// exits. Errors contain `label`.
    pub fn start(
        command: &mut Command,
        label: &str,
        input: Vec<u8>,
        on_error: fn(&str),
    ) -> Result<Self, sys::Error> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = sys::child::spawn_in(command, None, label)?;
        if let Some(mut stdin) = child.stdin.take() {
            // Use a separate thread, because the program might not read its input.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let (output, errors) = (LastLines::default(), LastLines::default());
        let piped = "all streams are pipes";
        output.keep(child.stdout.take().expect(piped), |_| true);
        errors.keep(child.stderr.take().expect(piped), move |line| {
            on_error(line);
            true
        });
        // The process has not been reaped yet, so its PID cannot have been reused.
        let start_time = sys::process::start_time(child.id());
        let process =
            start_time.and_then(|start_time| Process::own(child.id(), start_time)).unwrap_or_default();
        Ok(Self { child, process, ended: None, output, errors })
    }

    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    pub fn terminate(&mut self) {
        let asked = self.process.as_ref().map(Process::terminate);
        if !matches!(asked, Some(Ok(()))) {
            self.kill();
        }
    }

    pub fn kill(&mut self) {
        if !matches!(self.ended(), Ok(None)) {
            return;
        }
        if sys::child::kill_group(&self.child).is_err() {
            // Cannot fail for a child process.
            let _ = self.child.kill();
        }
        self.ended = self.child.wait().ok();
    }

    #[must_use]
    pub fn output(&self) -> String {
        self.output.text()
    }

    #[must_use]
    pub fn errors(&self) -> String {
        self.errors.text()
    }
}

impl Drop for Subprocess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str, input: &str) -> Subprocess {
        let mut command = Command::new("sh");
        Subprocess::start(command.args(["-c", script]), "sh", input.into(), |_| ()).expect("sh is installed")
    }

    fn status(program: &mut Subprocess) -> ExitStatus {
        let begun = Instant::now();
        loop {
            match program.ended().expect("our own child") {
                Some(status) => return status,
                None => assert!(begun.elapsed() < Duration::from_secs(20), "it still runs"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn reports_output_and_exit_status() {
        let mut program = shell("cat; echo wrong >&2; exit 3", "a line");
        assert_eq!(status(&mut program).code(), Some(3));
        assert_eq!((program.output().as_str(), program.errors().as_str()), ("a line", "wrong"));
        assert_eq!(status(&mut program).code(), Some(3), "again");
    }

    #[test]
    fn unread_input_does_not_block_exit() {
        assert!(status(&mut shell("exit 0", &"x".repeat(1 << 20))).success());
    }

    #[test]
    fn program_can_handle_sigterm() {
        let mut program = shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done", "");
        let begun = Instant::now();
        while program.output() != "ready" && begun.elapsed() < Duration::from_secs(20) {}
        program.terminate();
        assert_eq!(status(&mut program).code(), Some(7));
    }

    #[test]
    fn kills_program_with_its_children() {
        let mut program = shell("trap '' TERM; sleep 60 & echo $!; wait", "");
        let begun = Instant::now();
        while program.output().is_empty() && begun.elapsed() < Duration::from_secs(20) {}
        let below: u32 = program.output().trim().parse().expect("a number");
        let start_time = sys::process::start_time(below).expect("it runs");
        program.kill();
        assert_eq!(status(&mut program).code(), None);
        while sys::process::is_alive(below, start_time) {
            assert!(begun.elapsed() < Duration::from_secs(20), "the child still runs");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

//! A program that is run beside this one for a while: it ends with the thread that started it, and what it said last is kept. Must
//! not know what it does.

use std::{
    io::{self, Write},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
};

use sys::process::Process;

use crate::last_lines::LastLines;

/// A child process that leads a group of its own. Dropping it ends it, with all of its group.
#[derive(Debug)]
pub struct Subprocess {
    child: Child,
    process: Option<Process>,
    ended: Option<ExitStatus>,
    output: LastLines,
    errors: LastLines,
}

impl Subprocess {
    /// Starts it, with `input` on its standard input; `heard` gets each line of its standard error as it comes. The kernel kills
    /// it when the calling thread ends.
    ///
    /// # Errors
    /// When it cannot be started; `label` names it then.
    pub fn start(
        command: &mut Command,
        label: &str,
        input: Vec<u8>,
        heard: fn(&str),
    ) -> Result<Self, sys::Error> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = sys::child::spawn_in(command, None, label)?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that reads nothing of it, or ends before it has, is not held up by that, nor is this program.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let (output, errors) = (LastLines::default(), LastLines::default());
        let piped = "its streams were asked for as pipes";
        output.keep(child.stdout.take().expect(piped), |_| true);
        errors.keep(child.stderr.take().expect(piped), move |line| {
            heard(line);
            true
        });
        // Not waited for yet, so its number is its own.
        let start_time = sys::child::start_time(child.id());
        let process =
            start_time.and_then(|start_time| Process::own(child.id(), start_time)).unwrap_or_default();
        Ok(Self { child, process, ended: None, output, errors })
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
        }
        Ok(self.ended)
    }

    /// Asks it to end (SIGTERM), or ends it where that cannot be asked.
    pub fn terminate(&mut self) {
        let asked = self.process.as_ref().map(Process::terminate);
        if !matches!(asked, Some(Ok(()))) {
            self.kill();
        }
    }

    /// Ends it, with all that it has started in its group, and waits until it is gone.
    pub fn kill(&mut self) {
        if !matches!(self.ended(), Ok(None)) {
            return;
        }
        if sys::child::kill_group(&self.child).is_err() {
            // That alone is not in doubt.
            let _ = self.child.kill();
        }
        self.ended = self.child.wait().ok();
    }

    /// The last lines of its standard output.
    #[must_use]
    pub fn output(&self) -> String {
        self.output.text()
    }

    /// The last lines of its standard error.
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
        Subprocess::start(command.args(["-c", script]), "sh", input.into(), |_| ())
            .expect("every system has sh")
    }

    fn status(program: &mut Subprocess) -> ExitStatus {
        let begun = Instant::now();
        loop {
            match program.ended().expect("our own child") {
                Some(status) => return status,
                None => assert!(begun.elapsed() < Duration::from_secs(20), "it does not end"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_it_reads_writes_and_ends_with_is_told() {
        let mut program = shell("cat; echo wrong >&2; exit 3", "a line");
        assert_eq!(status(&mut program).code(), Some(3));
        assert_eq!((program.output().as_str(), program.errors().as_str()), ("a line", "wrong"));
        assert_eq!(status(&mut program).code(), Some(3), "once more");
    }

    #[test]
    fn one_that_reads_nothing_of_much_ends_all_the_same() {
        assert!(status(&mut shell("exit 0", &"x".repeat(1 << 20))).success());
    }

    #[test]
    fn one_that_is_asked_to_end_can_end_as_it_likes() {
        let mut program = shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done", "");
        let begun = Instant::now();
        while program.output() != "ready" && begun.elapsed() < Duration::from_secs(20) {}
        program.terminate();
        assert_eq!(status(&mut program).code(), Some(7));
    }

    #[test]
    fn one_that_does_not_end_is_ended_with_what_it_has_started() {
        let mut program = shell("trap '' TERM; sleep 60 & echo $!; wait", "");
        let begun = Instant::now();
        while program.output().is_empty() && begun.elapsed() < Duration::from_secs(20) {}
        let below: u32 = program.output().trim().parse().expect("a number");
        let start_time = sys::child::start_time(below).expect("it runs");
        program.kill();
        assert_eq!(status(&mut program).code(), None);
        while sys::child::is_alive(below, start_time) {
            assert!(begun.elapsed() < Duration::from_secs(20), "it is left");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

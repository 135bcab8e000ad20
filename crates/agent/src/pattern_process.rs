//! A process beside the agent that accesses memory by a known pattern, so that nothing of the agent's own can see into it: orders by
//! its standard input, truth by its standard output, one JSON line each. It ends with the agent.

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    os::unix::process::ExitStatusExt,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use protocol::{AccessPattern, MemoryOrder, MemoryReply};

use crate::refusal::Refusal;

/// The word behind `agent` that makes this program one.
pub const PATTERN: &str = "access-pattern";
/// This program.
const PROGRAM: &str = "/proc/self/exe";
/// Its number (signal(7)).
const SIGKILL: i32 = 9;

pub(crate) struct PatternProcess {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl PatternProcess {
    pub(crate) fn start() -> Result<Self, Refusal> {
        let mut command = Command::new(PROGRAM);
        command.args(["agent", PATTERN]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // The thread that starts it ends with the order; its input ends with this process, and it then.
        let refused = |error: std::io::Error| {
            Refusal::new(format!("cannot start the process that accesses memory: {error}"))
        };
        let mut child = command.spawn().map_err(refused)?;
        let to = child.stdin.take().expect("asked for as a pipe");
        let from = BufReader::new(child.stdout.take().expect("asked for as a pipe"));
        Ok(Self { child, to, from })
    }

    /// Answers when the memory is there and its pages are where they are to be.
    pub(crate) fn go_over_to(&mut self, pattern: AccessPattern) -> Result<(), Refusal> {
        self.ask(MemoryOrder::Pattern { pattern }).map(drop)
    }

    pub(crate) fn accessed(&mut self) -> Result<MemoryReply, Refusal> {
        self.ask(MemoryOrder::Accessed)
    }

    fn ask(&mut self, order: MemoryOrder) -> Result<MemoryReply, Refusal> {
        let lost = |error: &dyn std::fmt::Display| {
            Refusal::new(format!("the process that accesses memory: {error}"))
        };
        let line = serde_json::to_string(&order).map_err(|error| lost(&error))?;
        let mut answer = String::new();
        let asked = writeln!(self.to, "{line}").and_then(|()| self.from.read_line(&mut answer));
        match asked {
            Ok(1..) => {}
            Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(lost(&error)),
            _ => return Err(lost(&self.end())),
        }
        serde_json::from_str(&answer).map_err(|error| lost(&error))
    }

    /// How it ended, of one whose streams have: a kernel that lacks memory kills.
    fn end(&mut self) -> String {
        let status = self.child.wait();
        let why = match status.as_ref().ok().and_then(ExitStatusExt::signal) {
            Some(SIGKILL) => ": the guest has too little memory for it",
            _ => "",
        };
        status.map_or_else(|error| error.to_string(), |status| format!("it has ended, {status}{why}"))
    }
}

impl Drop for PatternProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

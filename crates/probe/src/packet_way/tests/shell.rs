//! A process in a host that awaits what to start, so that it can be watched before it starts it.

use std::{
    io::Write,
    process::{Child, Command, Stdio},
};

use super::lab::{Lab, skip};

pub(super) struct Shell(Child);

impl Shell {
    /// `None`, with the reason printed, where `program` is not installed, which it is to start.
    pub(super) fn new(lab: &Lab, host: &str, program: &str) -> Option<Self> {
        if let Err(error) = Command::new(program).arg("--version").output() {
            skip(&format!("{program}: {error}"));
            return None;
        }
        let mut shell = Command::new("sh");
        // What follows keeps the shell from becoming the program.
        shell.args(["-c", "read -r line; timeout 5 $line; true"]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = lab.inside(host, || shell.spawn()).expect("every machine has a shell");
        Some(Self(started))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Starts it; it ends within 5 seconds.
    pub(super) fn start(&mut self, line: &str) {
        let input = self.0.stdin.as_mut().expect("it is piped");
        writeln!(input, "{line}").expect("the shell reads it");
    }

    /// Awaits its end.
    pub(super) fn said(self) -> String {
        let output = self.0.wait_with_output().expect("it was started here");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

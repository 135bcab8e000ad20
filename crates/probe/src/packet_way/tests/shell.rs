//! Starts a program on request, so that it can be observed from the beginning.

use std::{
    io::Write,
    process::{Child, Command, Stdio},
};

use super::lab::{Lab, skip};

pub(super) struct Shell(Child);

impl Shell {
    pub(super) fn new(lab: &Lab, host: &str, program: &str) -> Option<Self> {
        if let Err(error) = Command::new(program).arg("--version").output() {
            skip(&format!("{program}: {error}"));
            return None;
        }
        let mut shell = Command::new("sh");
        // The second command prevents the shell from replacing itself with the program.
        shell.args(["-c", "read -r line; timeout 5 $line; true"]);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = lab.inside(host, || shell.spawn()).expect("every machine has a shell");
        Some(Self(started))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn start(&mut self, line: &str) {
        let input = self.0.stdin.as_mut().expect("piped");
        writeln!(input, "{line}").expect("the shell reads it");
    }

    pub(super) fn output(self) -> String {
        let output = self.0.wait_with_output().expect("own child");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

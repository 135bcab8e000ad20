//! A network namespace as a machine: the agent is a child process in it, its channel the child's stdio.

use std::{
    io::{BufRead, BufReader, Read},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use scenario::HostName;
use sys::netns::NetNs;

use crate::{Machine, channel::Channel, error::MachineError};

/// How many lines of the agent's error output are kept.
const KEPT_LINES: usize = 20;

/// A machine that is a network namespace.
#[derive(Debug)]
pub struct Namespace {
    host: HostName,
    namespace: NetNs,
    program: PathBuf,
    child: Option<Child>,
    errors: Arc<Mutex<Vec<String>>>,
}

impl Namespace {
    /// A machine for `host` in `namespace`, whose agent is `program agent`.
    #[must_use]
    pub fn new(host: HostName, namespace: NetNs, program: PathBuf) -> Self {
        Self { host, namespace, program, child: None, errors: Arc::default() }
    }

    fn keep_errors(&self, from: impl Read + Send + 'static) {
        let errors = Arc::clone(&self.errors);
        thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                let mut kept = errors.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == KEPT_LINES {
                    kept.remove(0);
                }
                kept.push(line);
            }
        });
    }
}

impl Machine for Namespace {
    fn start(&mut self) -> Result<Channel, MachineError> {
        if self.child.is_some() {
            return Err(MachineError::Started { host: self.host.to_string() });
        }
        let mut command = Command::new(&self.program);
        command
            .arg0("plumb")
            .arg("agent")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let label = format!("{} agent", self.program.display());
        let mut child = sys::child::spawn_in(&mut command, Some(&self.namespace), &label)
            .map_err(|source| MachineError::Start { host: self.host.to_string(), source })?;
        let piped = "its three streams were asked for as pipes";
        let (input, output) = (child.stdin.take().expect(piped), child.stdout.take().expect(piped));
        self.keep_errors(child.stderr.take().expect(piped));
        self.child = Some(child);
        Ok(Channel { from_agent: Box::new(output), to_agent: Box::new(input) })
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Either fails only when the child is gone, which is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn last_words(&self) -> String {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_macros, reason = "a skipped test says why")]
mod tests {
    use super::*;
    use std::io::Write;

    fn machine(program: &str) -> Option<Namespace> {
        match NetNs::create("test") {
            Ok(namespace) => Some(Namespace::new(HostName::new("test"), namespace, program.into())),
            Err(error) => {
                eprintln!("skipped: machine::namespace: {error}");
                None
            }
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named_in_the_error() {
        let Some(mut machine) = machine("/nonexistent/plumb") else { return };
        let error = machine.start().expect_err("there is no such program").to_string();
        assert!(error.contains("host test") && error.contains("/nonexistent/plumb"), "{error}");
    }

    #[test]
    fn the_channel_reaches_the_program_and_ends_with_it() {
        // `cat agent` fails at once: its complaint is the machine's last words, and the channel ends.
        let Some(mut machine) = machine("/bin/cat") else { return };
        let mut channel = machine.start().expect("cat is everywhere");
        let mut said = String::new();
        channel.from_agent.read_to_string(&mut said).expect("reads to the end");
        assert_eq!(said, "");
        let _ = channel.to_agent.write_all(b"x");
        for _ in 0..100 {
            if machine.last_words().contains("agent") {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("no last words: {:?}", machine.last_words());
    }
}

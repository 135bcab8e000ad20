//! The process of an agent: a child of ours whose channel is its stdio, and the last lines of its error output.
//! Must not know what kind of machine it is the agent of.

use std::{
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use scenario::HostName;
use sys::netns::NetNs;

use crate::{channel::Channel, error::MachineError, last_lines::LastLines};

/// A child process that is an agent. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct AgentProcess {
    host: HostName,
    program: PathBuf,
    child: Option<Child>,
    errors: LastLines,
}

impl AgentProcess {
    /// The agent of `host`, which will be `program agent`.
    pub(crate) fn new(host: HostName, program: PathBuf) -> Self {
        Self { host, program, child: None, errors: LastLines::default() }
    }

    /// Starts it in `namespace`, or else in the one of the calling thread.
    pub(crate) fn start(&mut self, namespace: Option<&NetNs>) -> Result<Channel, MachineError> {
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
        let mut child = sys::child::spawn_in(&mut command, namespace, &label)
            .map_err(|source| MachineError::Start { host: self.host.to_string(), source })?;
        let piped = "its three streams were asked for as pipes";
        let (input, output) = (child.stdin.take().expect(piped), child.stdout.take().expect(piped));
        self.errors.keep(child.stderr.take().expect(piped), |_| true);
        self.child = Some(child);
        Ok(Channel { from_agent: Box::new(output), to_agent: Box::new(input) })
    }

    /// The process, while it was started and not stopped.
    pub(crate) fn pids(&self) -> Vec<u32> {
        self.child.iter().map(Child::id).collect()
    }

    /// Ends it, if it still runs, and waits until it is gone.
    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Either fails only when the child is gone, which is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// The last lines that it wrote to its error output.
    pub(crate) fn last_output(&self) -> String {
        self.errors.text()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

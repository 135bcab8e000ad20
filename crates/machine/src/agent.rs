//! A child process that runs an agent, with its stdio as the channel.

use std::{
    fs,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use scenario::HostName;
use sys::netns::NetNs;

use crate::{error::MachineError, last_lines::LastLines};

#[derive(Debug)]
pub(crate) struct AgentProcess {
    host: HostName,
    child: Option<Child>,
    errors: LastLines,
}

impl AgentProcess {
    pub(crate) fn new(host: HostName) -> Self {
        Self { host, child: None, errors: LastLines::default() }
    }

    pub(crate) fn command(program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_remove(crate::STORE);
        command.arg0("plumb").arg("agent");
        command
    }

    /// The agent runs in `namespace`, or by default in the calling thread's namespace.
    pub(crate) fn start(
        &mut self,
        mut command: Command,
        namespace: Option<&NetNs>,
    ) -> Result<(ChildStdin, ChildStdout), MachineError> {
        if self.child.is_some() {
            return Err(MachineError::Started { host: self.host.to_string() });
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let label = format!("{} agent", command.get_program().display());
        let mut child = sys::child::spawn_in(&mut command, namespace, &label)
            .map_err(|source| MachineError::Start { host: self.host.to_string(), source })?;
        let piped = "all three streams are pipes";
        let streams = (child.stdin.take().expect(piped), child.stdout.take().expect(piped));
        self.errors.keep(child.stderr.take().expect(piped), |_| true);
        self.child = Some(child);
        Ok(streams)
    }

    /// Moves the process into a cgroup until it exits (cgroups(7)).
    #[expect(clippy::disallowed_methods, reason = "the kernel provides this file, so nothing is created")]
    pub(crate) fn join(&self, cgroup: &Path) -> Result<(), MachineError> {
        let file = cgroup.join("cgroup.procs");
        self.pids().iter().try_for_each(|pid| fs::write(&file, pid.to_string())).map_err(|source| {
            MachineError::Cgroup { host: self.host.to_string(), file: file.display().to_string(), source }
        })
    }

    pub(crate) fn pids(&self) -> Vec<u32> {
        self.child.iter().map(Child::id).collect()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        // After an error, there is no process to wait for.
        self.child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)))
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.take()?.wait().ok()?.code()
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // Fails only if the process has already exited.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub(crate) fn last_output(&self) -> String {
        self.errors.text()
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

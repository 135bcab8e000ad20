//! This machine itself, in no namespace of a lab: the agent is a child process, its channel the child's stdio. It sees
//! what every other agent does, and carries no traffic.

use std::path::PathBuf;

use scenario::HostName;

use crate::{Machine, agent::AgentProcess, channel::Channel, error::MachineError, process::Process};

/// The machine that this process runs on.
#[derive(Debug)]
pub struct Host {
    agent: AgentProcess,
}

impl Host {
    /// This machine by the name that errors call it, with `program agent` as its agent.
    #[must_use]
    pub fn new(name: HostName, program: PathBuf) -> Self {
        Self { agent: AgentProcess::new(name, program) }
    }
}

impl Machine for Host {
    fn start(&mut self) -> Result<Channel, MachineError> {
        self.agent.start(None)
    }

    fn processes(&self) -> Vec<Process> {
        self.agent.processes()
    }

    fn stop(&mut self) {
        self.agent.stop();
    }

    fn last_words(&self) -> String {
        self.agent.last_words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Role;

    #[test]
    fn its_agent_is_a_child_here_and_has_a_number_while_it_runs() {
        let mut host = Host::new(HostName::new("observer"), "/bin/cat".into());
        assert_eq!(host.processes(), []);
        let _channel = host.start().expect("cat is everywhere");
        let [Process { role: Role::Agent, pid }] = host.processes()[..] else { panic!("one process") };
        assert!(sys::child::start_time(pid).is_ok(), "it is a process of this machine");
        host.stop();
        assert_eq!(host.processes(), []);
    }
}

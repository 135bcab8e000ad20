//! A machine in a network namespace, which is either a lab host's or this process's own namespace.

use std::path::PathBuf;

use scenario::HostName;
use sys::netns::NetNs;

use crate::{
    Condition, Machine, agent::AgentProcess, channel::Channel, cpu_quota::CpuQuota, error::MachineError,
    host_policy::HostPolicy,
};

#[derive(Debug)]
pub struct Namespace {
    namespace: Option<NetNs>,
    program: PathBuf,
    arguments: Vec<String>,
    cgroups: Vec<PathBuf>,
    // Dropped before the quota, because a cgroup can be removed only if it is empty.
    agent: AgentProcess,
    cpu_quota: Option<CpuQuota>,
}

impl Namespace {
    #[must_use]
    pub fn new(host: HostName, namespace: NetNs, program: PathBuf) -> Self {
        Self { namespace: Some(namespace), ..Self::own(host, program) }
    }

    #[must_use]
    pub fn own(name: HostName, program: PathBuf) -> Self {
        let (arguments, cgroups) = (Vec::new(), Vec::new());
        let agent = AgentProcess::new(name);
        Self { namespace: None, program, arguments, cgroups, agent, cpu_quota: None }
    }

    #[must_use]
    pub fn within(self, cgroups: Vec<PathBuf>) -> Self {
        Self { cgroups, ..self }
    }

    #[must_use]
    pub fn under(self, policy: &HostPolicy) -> Self {
        Self { arguments: vec![HostPolicy::FLAG.to_owned(), policy.written()], ..self }
    }
}

impl Machine for Namespace {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let mut command = AgentProcess::command(&self.program);
        command.args(&self.arguments);
        let (input, output) = self.agent.start(command, self.namespace.as_ref())?;
        for cgroup in &self.cgroups {
            self.agent.join(cgroup)?;
        }
        Ok(Channel { from_agent: Box::new(output), to_agent: Box::new(input) })
    }

    fn pids(&self) -> Vec<u32> {
        self.agent.pids()
    }

    fn stop(&mut self) {
        self.agent.stop();
        self.cpu_quota = None;
    }

    fn limit_cpu(&mut self, millicpus: Option<u32>) -> std::io::Result<()> {
        match (&self.cpu_quota, self.pids()[..].first(), millicpus) {
            (Some(quota), ..) => quota.set(millicpus),
            (None, Some(pid), Some(_)) => self.cpu_quota.insert(CpuQuota::around(*pid)?).set(millicpus),
            (None, None, Some(_)) => Err(std::io::Error::other("the agent has ended")),
            (None, _, None) => Ok(()),
        }
    }

    fn condition(&self) -> Condition {
        Condition { last_output: self.agent.last_output(), ..Condition::default() }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_macros, reason = "a skipped test prints the reason")]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        thread,
    };

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
    fn agent_is_a_child_process_while_it_runs() {
        let mut machine = Namespace::own(HostName::new("observer"), "/bin/cat".into());
        assert_eq!(machine.pids(), Vec::<u32>::new());
        let _channel = machine.start().expect("cat is installed");
        let [pid] = machine.pids()[..] else { panic!("one process") };
        assert!(sys::process::start_time(pid).is_ok(), "it is a process of this machine");
        machine.stop();
        assert_eq!(machine.pids(), Vec::<u32>::new());
    }

    #[test]
    fn names_missing_program_in_error() {
        let Some(mut machine) = machine("/nonexistent/plumb") else { return };
        let error = machine.start().expect_err("missing program").to_string();
        assert!(error.contains("host test") && error.contains("/nonexistent/plumb"), "{error}");
    }

    #[test]
    fn channel_closes_when_program_exits() {
        // `cat agent` fails immediately. Its error message becomes the last output, and the channel closes.
        let Some(mut machine) = machine("/bin/cat") else { return };
        let mut channel = machine.start().expect("cat is installed");
        let mut output = String::new();
        channel.from_agent.read_to_string(&mut output).expect("reads to the end");
        assert_eq!(output, "");
        let _ = channel.to_agent.write_all(b"x");
        for _ in 0..100 {
            if machine.condition().last_output.contains("agent") {
                return;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("no last output: {:?}", machine.condition());
    }
}

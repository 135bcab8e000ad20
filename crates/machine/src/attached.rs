//! Network namespaces of processes, containers and pods that are already running on this machine.

mod container;
mod cpu_limit;
mod error;
mod firewall;
mod open_vswitch;
mod pod;
mod runtime;
mod visible;

use std::path::PathBuf;

use scenario::Endpoint;
use sys::{netns::NetNs, process::Process, userns::UserNs};

pub(crate) use cpu_limit::cpu_hierarchy;
pub use cpu_limit::{CpuLimit, QuotaCounters, Throttling};
pub use error::AttachError;
pub use firewall::blocking_rules;
pub use open_vswitch::{SwitchPorts, open_vswitch_bridges};
pub use visible::visible_namespaces;

/// An open namespace. It outlives the program that created it.
#[derive(Debug)]
pub struct Attached {
    namespace: NetNs,
    process: Option<Process>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Running {
    id: String,
    pid: u32,
}

impl Attached {
    /// # Errors
    /// Fails if there is no such endpoint, if it is not running, or if the caller is not allowed to enter it.
    pub fn open(endpoint: &Endpoint) -> Result<Self, AttachError> {
        match endpoint {
            Endpoint::Namespace { path } => {
                let namespace = NetNs::open(path).map_err(|source| AttachError::Namespace { source })?;
                Ok(Self { namespace, process: None })
            }
            Endpoint::Process { pid } => Self::of_process(*pid, endpoint),
            Endpoint::Container { name } => Self::of_running(endpoint, || container::find(name)),
            Endpoint::Pod { namespace, name } => Self::of_running(endpoint, || pod::find(namespace, name)),
        }
    }

    /// # Errors
    /// Fails if /proc is not mounted.
    pub fn own() -> Result<Self, AttachError> {
        let namespace = NetNs::current().map_err(|source| AttachError::Namespace { source })?;
        Ok(Self { namespace, process: None })
    }

    /// Queries the runtime again after opening the process. An identical answer proves that the PID was not
    /// reused.
    fn of_running(
        endpoint: &Endpoint,
        find: impl Fn() -> Result<Running, AttachError>,
    ) -> Result<Self, AttachError> {
        let running = find()?;
        let attached = Self::of_process(running.pid, endpoint)?;
        let is_alive = attached.process.as_ref().is_some_and(Process::is_alive);
        if is_alive && find()? == running {
            Ok(attached)
        } else {
            Err(AttachError::Restarted { endpoint: endpoint.to_string() })
        }
    }

    fn of_process(pid: u32, endpoint: &Endpoint) -> Result<Self, AttachError> {
        let refused = |source| AttachError::Enter { endpoint: endpoint.to_string(), source };
        let process = Process::running(pid).map_err(refused)?;
        let process = process.ok_or(AttachError::NoProcess { pid })?;
        let namespace = NetNs::of(&process).map_err(refused)?;
        Ok(Self { namespace, process: Some(process) })
    }

    #[must_use]
    pub const fn namespace(&self) -> &NetNs {
        &self.namespace
    }

    #[must_use]
    pub fn cpu_limit(&self) -> Option<CpuLimit> {
        self.process.as_ref().and_then(CpuLimit::of)
    }

    #[must_use]
    pub fn cgroups(&self) -> Vec<PathBuf> {
        self.process.as_ref().map(cpu_limit::cgroups).unwrap_or_default()
    }

    #[must_use]
    pub fn throttled(&self) -> Option<QuotaCounters> {
        self.process.as_ref().map(QuotaCounters::now)
    }

    #[must_use]
    pub fn shares_network_with(&self, other: &Self) -> bool {
        self.namespace == other.namespace
    }

    /// Gains permission to enter the namespace by joining its user namespace. Root does not need this. The
    /// process must be single-threaded.
    ///
    /// # Errors
    /// Fails if another user created the user namespace.
    pub fn gain_rights(&self, endpoint: &Endpoint) -> Result<(), AttachError> {
        if sys::userns::has_net_admin() && !sys::userns::is_nested() {
            return Ok(());
        }
        let refused = |source| AttachError::Enter { endpoint: endpoint.to_string(), source };
        UserNs::owning(&self.namespace).and_then(|owner| owner.join()).map_err(refused)
    }

    /// # Errors
    /// Fails if the endpoint's process has exited. A restarted container has a new namespace.
    pub fn check(&self, endpoint: &Endpoint) -> Result<(), AttachError> {
        match &self.process {
            Some(process) if !process.is_alive() => {
                Err(AttachError::Restarted { endpoint: endpoint.to_string() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn opens_namespace_of_process() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep is installed");
        let endpoint = Endpoint::Process { pid: child.id() };
        let attached = Attached::open(&endpoint).expect("own process");
        assert!(attached.shares_network_with(&Attached::own().expect("readable")));
        attached.check(&endpoint).expect("it runs");
        child.kill().and_then(|()| child.wait()).expect("own child");
        let error = attached.check(&endpoint).expect_err("it has exited").to_string();
        assert!(error.contains(&format!("pid:{} has exited or restarted", child.id())), "{error}");
        let error = Attached::open(&endpoint).expect_err("it has exited").to_string();
        assert!(error.contains("no process has the PID"), "{error}");
    }

    #[test]
    fn rejects_changed_answer_of_runtime() {
        let answers = std::cell::Cell::new(0);
        let find = || {
            answers.set(answers.get() + 1);
            Ok(Running { id: format!("container {}", answers.get()), pid: std::process::id() })
        };
        let endpoint = Endpoint::Container { name: "web".to_owned() };
        let error = Attached::of_running(&endpoint, find).expect_err("restarted").to_string();
        assert!(error.contains("container:web has exited or restarted"), "{error}");
    }

    #[test]
    fn rejects_file_that_is_not_a_namespace() {
        for path in ["/proc/self/status", "/nonexistent", "/proc/self/ns/mnt"] {
            let error = Attached::open(&Endpoint::Namespace { path: path.to_owned() }).expect_err(path);
            assert!(error.to_string().contains(path), "{error}");
        }
    }
}

//! Starts agents on all kinds of endpoints, and opens channels to them.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "unit tests prepare files"))]

mod agent;
mod agent_client;
mod attached;
mod channel;
mod cpu_quota;
mod error;
mod firecracker;
mod guest;
mod holder;
mod host_policy;
mod hypervisor;
mod instruction_counter;
mod last_lines;
mod member;
mod namespace;
mod namespace_entry;
mod qemu;
mod resident;
mod rights;
mod runtime_folder;
mod ssh;
mod starvation;
mod subprocess;

pub use agent_client::AgentClient;
pub use attached::{
    AttachError, Attached, CpuLimit, QuotaCounters, SwitchPorts, Throttling, blocking_rules,
    open_vswitch_bridges, visible_namespaces,
};
pub use channel::Channel;
pub use error::MachineError;
pub use firecracker::{ApiError, Firecracker, FirecrackerError, NamedTap};
pub use guest::{ConfiguredKernel, GuestError, Image, ImageFile, Kernel, Vmlinux};
pub use holder::Holder;
pub use host_policy::{HostPolicy, Hours, Ports};
pub use hypervisor::{Hypervisor, hypervisor};
pub use instruction_counter::{
    CounterPlugin, FunctionInstructions, InstructionCounter, Symbols, guest_symbols,
};
pub use member::Member;
pub use namespace::Namespace;
pub use namespace_entry::visit;
pub use protocol::guest::GuestSymbols;
pub use qemu::{Accelerator, BALLOON, Monitor, MonitorError, MonitorSays, Nic, NicSays, Qemu, QemuError};
pub use resident::resident;
pub use rights::{CAPABILITY_USES, CapabilityUse, Rights};
pub use runtime_folder::runtime_folder;
pub use ssh::{ProgramCopy, Ssh, SshError};
pub use starvation::{Wait, longest_wait};
pub use subprocess::Subprocess;
pub use sys::Error as ProcessError;
pub use sys::PrivateFolder;
pub use sys::counted_window::report as report_counted_window;

use std::{env, ffi::OsStr, process::Command, time::Duration};

pub trait Machine: Send {
    fn start(&mut self) -> Result<Channel, MachineError>;

    fn pids(&self) -> Vec<u32>;

    fn stop(&mut self);

    fn boot(&self) -> Boot {
        Boot::default()
    }

    /// Returns how long the processes were runnable but had no CPU. Timeouts are extended by this time.
    fn starved(&self) -> Duration {
        starvation::longest_wait(&self.pids())
    }

    /// Returns a client for resizing memory, or `None` if there is no monitor or the client was already
    /// taken. A monitor accepts only one client.
    fn take_monitor(&mut self) -> Option<Monitor> {
        None
    }

    /// # Errors
    /// [`Unsupported`](std::io::ErrorKind::Unsupported) if the agent is not a process on this machine, or there is no
    /// cgroup with a CPU controller.
    fn limit_cpu(&mut self, millicpus: Option<u32>) -> std::io::Result<()> {
        if millicpus.is_none() {
            return Ok(());
        }
        let reason = "only an agent in a namespace on this machine can get a CPU limit";
        Err(std::io::Error::new(std::io::ErrorKind::Unsupported, reason))
    }

    /// Returns the release of a booted kernel, e.g. `6.1.0-56-cloud-amd64`.
    fn guest_kernel(&self) -> Option<&str> {
        None
    }

    fn condition(&self) -> Condition;
}

/// The default is for a machine that is already running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boot {
    /// The maximum time from [`Machine::start`] to the agent's greeting, not counting
    /// [starvation](Machine::starved).
    pub patience: Duration,
    pub own_kernel: bool,
    pub may_hang: bool,
}

impl Default for Boot {
    fn default() -> Self {
        Self { patience: Duration::from_secs(10), own_kernel: false, may_hang: false }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// The time from the start to the first process. `None` if no process has started yet, or if the machine
    /// was already running.
    pub booted_within: Option<Duration>,
    pub trouble: Option<String>,
    pub last_output: String,
}

const STORE: &str = "PLUMB_DB";

/// Creates a command with only `PATH` in its environment, because a guest may take over the program.
fn without_environment(program: impl AsRef<OsStr>) -> Command {
    const PATH: &str = "PATH";
    let mut command = Command::new(program);
    command.env_clear().envs(env::var_os(PATH).map(|folders| (PATH, folders)));
    command
}

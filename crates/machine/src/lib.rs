//! What an endpoint lives in: starts an agent there and opens its channel.
//!
//! Knows nothing of how links are made, nor of what the agent is asked to do.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "unit tests prepare files"))]

mod agent;
mod channel;
mod error;
mod firecracker;
mod guest;
mod holder;
mod hypervisor;
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

pub use channel::Channel;
pub use error::MachineError;
pub use firecracker::{ApiError, Firecracker, FirecrackerError, NamedTap};
pub use guest::{GuestError, Image, ImageFile, Kernel, Vmlinux};
pub use holder::Holder;
pub use hypervisor::hypervisor;
pub use member::Member;
pub use namespace::Namespace;
pub use namespace_entry::visit;
pub use qemu::{Accelerator, BALLOON, Monitor, MonitorError, MonitorSays, Nic, NicSays, Qemu, QemuError};
pub use resident::resident;
pub use rights::{CAPABILITY_USES, CapabilityUse, Rights};
pub use runtime_folder::runtime_folder;
pub use ssh::{ProgramCopy, Ssh, SshError};
pub use starvation::longest_wait;
pub use subprocess::Subprocess;
/// What can go wrong with a process: the kernel's refusal, naming operation and object.
pub use sys::Error as ProcessError;
/// A folder that nobody but this user can write.
pub use sys::PrivateFolder;

use std::{env, ffi::OsStr, process::Command, time::Duration};

/// Something that an agent can run in.
pub trait Machine: Send {
    /// Starts the agent and opens the byte stream to it. The agent dies with the calling thread: call it from one that
    /// lives as long as the agent is meant to.
    ///
    /// # Errors
    /// When the agent cannot be started.
    fn start(&mut self) -> Result<Channel, MachineError>;

    /// The numbers of the processes that it consists of while it runs, as the calling process sees them; none before it
    /// starts and after it stops.
    fn pids(&self) -> Vec<u32>;

    /// Ends the agent, if it still runs, and waits until it is gone.
    fn stop(&mut self);

    /// How it starts; known before it does.
    fn boot(&self) -> Boot {
        Boot::default()
    }

    /// How long it was ready to run and had no CPU: so much longer may all take that is asked of it.
    fn starved(&self) -> Duration {
        starvation::longest_wait(&self.pids())
    }

    /// A monitor to move its memory by, whose only client the caller is; `None` of a machine without one, and when it was
    /// handed out since the machine was started.
    fn take_monitor(&mut self) -> Option<Monitor> {
        None
    }

    /// How it is now, or was when it ended.
    fn condition(&self) -> Condition;
}

/// How a machine starts. The default is one that runs already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boot {
    /// How long the agent may take from [`Machine::start`] to its greeting, beyond what it was [starved](Machine::starved).
    pub patience: Duration,
    /// Whether it boots a kernel of its own, which takes a CPU until the agent has greeted.
    pub own_kernel: bool,
    /// Whether its start may hang without a reason, so that it is worth another try.
    pub may_hang: bool,
}

impl Default for Boot {
    fn default() -> Self {
        Self { patience: Duration::from_secs(10), own_kernel: false, may_hang: false }
    }
}

/// How a machine is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// How long it took from [`Machine::start`] until its first process ran; `None` before it does, and for a machine that
    /// ran before.
    pub booted_within: Option<Duration>,
    /// What is wrong with the machine under the agent, if anything is and can be learned.
    pub trouble: Option<String>,
    /// The last lines that the agent, or the machine under it, wrote where people look for errors, with the trouble.
    pub last_output: String,
}

/// Where runs are kept may be a server, and its password in this variable: nothing that is started here needs it.
const STORE: &str = "PLUMB_DB";

/// A command with only `PATH` in its environment. A guest may take over the program that runs it.
fn without_environment(program: impl AsRef<OsStr>) -> Command {
    const PATH: &str = "PATH";
    let mut command = Command::new(program);
    command.env_clear().envs(env::var_os(PATH).map(|folders| (PATH, folders)));
    command
}

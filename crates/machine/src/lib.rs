//! What an endpoint lives in: starts an agent there and opens its channel.
//!
//! Knows nothing of how links are made, nor of what the agent is asked to do.
#![expect(clippy::disallowed_methods, reason = "waiting until a process is gone")]

mod agent;
mod channel;
mod error;
mod firecracker;
mod guest;
mod holder;
mod hypervisor;
mod last_lines;
mod namespace;
mod qemu;
mod rights;
mod runtime_folder;
mod visit;

pub use channel::Channel;
pub use error::MachineError;
pub use firecracker::{ApiError, Firecracker, FirecrackerError, NamedTap};
pub use guest::{GuestError, Image, Included, Kernel, Vmlinux};
pub use holder::Holder;
pub use hypervisor::hypervisor;
pub use namespace::Namespace;
pub use qemu::{Accelerator, Monitor, MonitorError, MonitorSays, Nic, NicSays, Qemu, QemuError};
pub use rights::Rights;
pub use runtime_folder::runtime_folder;
/// What can go wrong with a process: the kernel's refusal, naming operation and object.
pub use sys::Error as ProcessError;
/// A folder that nobody but this user can write.
pub use sys::PrivateFolder;
pub use visit::visit;

use std::time::Duration;

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

    /// How long the agent may take from [`Machine::start`] to its greeting.
    fn patience(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// Whether it starts with a kernel of its own, which takes a CPU until the agent has greeted.
    fn boots(&self) -> bool {
        false
    }

    /// Whether its start may hang without a reason, so that it is worth another try.
    fn may_hang(&self) -> bool {
        false
    }

    /// How long the machine took from [`Machine::start`] until its first process ran; `None` before it does, and for a
    /// machine that ran before.
    fn booted_within(&self) -> Option<Duration> {
        None
    }

    /// What is wrong with the machine under the agent, if anything is and can be learned.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// The last lines that the agent, or the machine under it, wrote where people look for errors.
    fn last_words(&self) -> String;
}

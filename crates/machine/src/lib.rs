//! What an endpoint lives in: starts an agent there and opens its channel.
//!
//! Knows nothing of how links are made, nor of what the agent is asked to do.
#![expect(clippy::disallowed_methods, reason = "waiting until a process is gone")]

mod agent;
mod channel;
mod error;
mod host;
mod keeper;
mod namespace;
mod process;
mod rights;
mod visit;

pub use channel::Channel;
pub use error::MachineError;
pub use host::Host;
pub use keeper::Keeper;
pub use namespace::Namespace;
pub use process::{Process, Role};
pub use rights::Rights;
/// What can go wrong with a process: the kernel's refusal, naming operation and object.
pub use sys::Error as ProcessError;
pub use visit::visit;

/// Something that an agent can run in.
pub trait Machine: Send {
    /// Starts the agent and opens the byte stream to it. The agent dies with the calling thread's process.
    ///
    /// # Errors
    /// When the agent cannot be started.
    fn start(&mut self) -> Result<Channel, MachineError>;

    /// The processes that it consists of while it runs, its agent first; none before it starts and after it stops.
    fn processes(&self) -> Vec<Process>;

    /// Ends the agent, if it still runs, and waits until it is gone.
    fn stop(&mut self);

    /// The last lines that the agent, or the machine under it, wrote where people look for errors.
    fn last_words(&self) -> String;
}

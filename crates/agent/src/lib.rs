//! The agent, which runs traffic and probes on a host. One thread reads orders, and each traffic order has
//! its own thread.

mod deadline;
mod describe;
mod first_process;
mod guest_memory;
mod network;
mod observe;
mod port;
mod refusal;
mod replies;
mod report;
mod session;
mod trials;
mod watch;

#[cfg(test)]
mod tests;

pub use first_process::run_as_first_process;
pub use machine::HostPolicy;
pub use port::serve_port;
pub use session::run;

//! The process beside the traffic: obeys the protocol, runs traffic and probes.
//!
//! Synchronous and small: one thread reads orders, each order that waits for traffic has a thread, and traffic has
//! threads of its own. It does not know the scenario, the lab or what a number means.

mod client;
mod deadline;
mod describe;
mod first_process;
mod guest_memory;
mod mtu;
mod network;
mod observe;
mod port;
mod refusal;
mod replies;
mod report;
mod serve;
mod session;
mod trials;
mod watch;

#[cfg(test)]
mod tests;

pub use first_process::run_as_first_process;
pub use port::serve_port;
pub use session::run;

//! The agent: executes orders of the protocol, and runs traffic and probes next to the workload.
//!
//! Synchronous: one thread reads orders, each traffic order has a thread, and traffic has its own threads.
//! Independent of scenarios, labs and analysis.

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
pub use port::serve_port;
pub use session::run;

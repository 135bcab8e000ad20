//! The sockperf protocol: a client for stock servers, and server sessions for stock clients.

mod client;
mod served;
mod tcp;
mod udp;

#[cfg(test)]
mod tests;

pub use client::{ClientSpec, run_client};

pub(crate) use served::{SessionOutcome, SharedCounts};
pub(crate) use tcp::serve_tcp;
pub(crate) use udp::{cost, serve_udp};

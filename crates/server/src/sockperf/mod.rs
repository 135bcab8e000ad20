//! sockperf's protocol: a client of its servers, and sessions that serve its clients.
//!
//! What a message is and which one is answered is `codecs::sockperf`'s; sockets, waits and bounds are here.

mod client;
mod served;
mod tcp;
mod udp;

#[cfg(test)]
mod tests;

pub use client::{ClientSpec, run_client};

pub(crate) use served::{SessionOutcome, SharedCounts};
pub(crate) use tcp::serve_tcp;
pub(crate) use udp::{cost, serve_udp_beside};

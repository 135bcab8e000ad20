//! The plumb server, and drivers for the iperf3 and sockperf protocols in `codecs`.
//!
//! All protocols share a single port, and the server detects them by their first bytes. Before that, a peer has a
//! deadline and costs only a socket and a few bytes of memory.

mod accept_backoff;
mod admission;
mod admission_check;
mod admission_queue;
mod allow_list;
mod auth_worker;
mod config;
mod confinement;
mod datagram_peers;
mod document;
mod event;
mod event_log;
mod event_loop;
#[cfg(any(test, fuzzing))]
#[path = "../../../fuzz/src/server.rs"]
pub mod exercise;
mod holdings;
mod ingress;
pub mod iperf3;
mod ledger;
mod line_limiter;
mod listeners;
mod log_limiter;
mod opening;
mod pending;
mod port_holder;
mod recently_closed;
mod requests;
mod seen_tokens;
mod session;
mod sessions;
mod sockets;
pub mod sockperf;
mod udp_demux;
mod waker;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use config::{Auth, Config, Limits, addresses};
pub use confinement::{Confinement, allowed_calls};
pub use document::document;
pub use event::{Client, Event, Refusal, Report, ServedProtocol, Watcher, Work};
pub use event_log::{EventLog, LogTarget};
pub use event_loop::{Bound, serve};

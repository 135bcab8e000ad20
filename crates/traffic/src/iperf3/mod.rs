//! iperf3's protocol over sockets, both roles; the engine of every dialect moves the bytes.
//!
//! What travels is `wire`'s business: here it is sent and received, and held against what was measured.

mod client;
mod cpu;
mod document;
pub(crate) mod entropy;
mod extension;
mod results;
pub(crate) mod server;
mod text;
mod transport;

pub use client::{ClientSpec, Connection, Credentials, Options, Report, ServerOutput, run_client};
pub use document::document;

//! The iperf3 protocol over sockets, for client and server. Checks messages against measurements.

mod client;
mod cpu;
mod document;
pub(crate) mod extension;
mod results;
pub(crate) mod server;
mod text;
mod transport;

pub use client::{ClientSpec, Connection, Credentials, Options, Report, ServerOutput, run_client};
pub use document::document;

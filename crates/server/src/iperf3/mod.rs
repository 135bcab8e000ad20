//! iperf3's protocol over sockets, both roles; the engine of every protocol moves the bytes.
//!
//! What travels is `codecs`' business: here it is sent and received, and compared with what was measured.

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

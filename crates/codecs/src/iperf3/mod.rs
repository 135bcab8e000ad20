//! The iperf3 protocol, versions 3.1 to 3.2x. A control connection carries state bytes and JSON. Data connections
//! start with the test's cookie.
//!
//! Sources: <https://github.com/esnet/iperf> (src/iperf_api.c, iperf_client_api.c, iperf_server_api.c, iperf_udp.c,
//! iperf_auth.c, iperf_error.c) and the captures in tests/captures.

pub mod auth;
pub mod client;
mod code;
mod cookie;
mod datagram;
mod failure;
mod inbox;
mod number;
pub mod output;
mod params;
mod raw_json;
mod results;
pub mod server;
mod state;

#[cfg(test)]
mod tests;

pub use code::{ErrorCode, NOT_ALLOWED};
pub use cookie::Cookie;
pub use datagram::{Connect, CounterWidth, UdpHeader};
pub use failure::Failure;
pub use inbox::{MAX_CLIENT_RESULTS, MAX_PARAMS, MAX_SERVER_RESULTS};
pub use params::{Extension, Params, PlannedStream, Unsayable};
pub use raw_json::Unread;
pub use results::{Results, StreamResults};
pub use state::State;

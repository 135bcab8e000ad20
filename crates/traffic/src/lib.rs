//! Sockets and threads that send and receive: streams and ping-pong.
//!
//! Plain threads and blocking sockets. In a measuring loop a message costs its send or receive and a look at
//! the clock, which is no system call; nothing is allocated, locked or published per message. This room
//! knows settings and series; it does not know who asked, over which path, or what the numbers mean.
#![expect(clippy::disallowed_methods, reason = "traffic owns waiting between its sends and receives")]

mod bounds;
mod calibrate;
mod connect;
mod crew;
mod dial;
pub mod door;
mod ends;
mod error;
mod gather;
mod handshake;
pub mod iperf3;
mod mtu;
mod observer;
mod outcome;
mod ping_pong;
mod refused;
mod socket;
pub mod sockperf;
mod spec;
mod stop;
mod stream;

#[cfg(test)]
mod testing;

pub use calibrate::calibrate;
pub use ends::{Server, run_client};
pub use error::{Error, Result};
pub use mtu::{MtuSpec, Passage, probe_mtu};
pub use observer::{Beat, FlowId, Observer};
pub use outcome::{Outcome, StreamOutcome};
pub use refused::Refused;
pub use spec::{ClientSpec, ServerSpec, random_token};
pub use stop::Stop;

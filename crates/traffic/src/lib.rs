//! Sends and receives the traffic of a workload: streams, ping-pong and short connections.
//!
//! The measuring loops neither allocate nor lock. Each message costs one system call to send or receive, and one clock
//! reading without a system call.

pub mod bounds;
mod calibrate;
pub mod connect;
pub mod dial;
mod ends;
mod entropy;
mod error;
mod gather;
pub mod handshake;
mod mtu;
mod observer;
mod outcome;
pub mod ping_pong;
mod refused;
pub mod socket;
mod spec;
mod stop;
pub mod stream;
pub mod workers;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod testing;

pub use calibrate::calibrate;
pub use ends::{Server, run_client};
pub use entropy::{random_bytes, random_token};
pub use error::{Error, Result};
pub use mtu::{Hole, MtuSpec, Passage, find_mtu_hole, probe_mtu, send_packets};
pub use observer::{FlowId, Observer, Progress, progress_interval};
pub use outcome::{Outcome, StreamOutcome};
pub use refused::RefusalCode;
pub use spec::{ClientSpec, ServerSpec};
pub use stop::Stop;

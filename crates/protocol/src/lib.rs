//! The protocol between controller and agents: requests and events as versioned JSON lines over a byte stream.
//!
//! The channel never uses the measured path: stdio of a child in a namespace, a virtio-serial port, vsock or SSH. Works
//! on `Read` and `Write`, opens no connections, and does not execute requests.

mod channel;
pub mod guest;
mod host_policy;
mod memory;
mod message;
mod nested_run;
mod observe;

pub use channel::{ChannelError, LineLimit, MAX_LINE, Receiver, Sender};
pub use host_policy::{HostPolicy, Hours, Ports};
pub use memory::{AccessClass, AccessSourceKind, MemoryOrder, MemoryReply, MemoryTelemetry, NodeTelemetry};
pub use message::{
    ClientOrder, EndReport, FromAgent, Hello, MtuProbe, MtuResult, Order, Progress, Reply, ServerOrder,
    ToAgent, Token, VERSION,
};
pub use nested_run::{Commission, DesignDecision, FromNestedRun, RunEvent, ToNestedRun};
pub use observe::{BreakdownOrder, HostCpu, Observation, ObserveOrder, Observing, Subject, WatchedDevice};

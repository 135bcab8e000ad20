//! Orders to an agent and its events, as versioned JSON lines over any byte stream.
//!
//! The channel is never the measured path: stdio of a child in a namespace, a virtio-serial port, vsock,
//! ssh. This room knows bytes in and out only by `Read` and `Write` handed in; it opens nothing, and says
//! nothing of how an order is obeyed.

mod channel;
pub mod exercise;
pub mod guest;
mod host_policy;
mod memory;
mod message;
mod nested_run;
mod observe;

pub use channel::{ChannelError, LineLimit, MAX_LINE, Receiver, Sender};
pub use host_policy::{HostPolicy, Hours, Ports};
pub use memory::{
    AccessClass, AccessPattern, AccessSourceKind, MemoryOrder, MemoryReply, MemoryTelemetry, NodeAccesses,
    NodeTelemetry, PatternShape,
};
pub use message::{
    ClientOrder, EndReport, FromAgent, Hello, MtuProbe, MtuResult, Order, Progress, Reply, ServerOrder,
    ToAgent, Token, VERSION,
};
pub use nested_run::{Commission, DesignDecision, FromConductor, RunEvent, ToConductor};
pub use observe::{BreakdownOrder, HostCpu, Observation, ObserveOrder, Observing, Subject, WatchedDevice};

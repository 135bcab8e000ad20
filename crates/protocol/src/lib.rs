//! The protocol between the controller and its agents: JSON lines over a stream that never uses the measured
//! path.

mod channel;
pub mod guest;
mod memory;
mod message;
mod nested_run;
mod observe;
mod token;

pub use channel::{ChannelError, LineLimit, MAX_LINE, Receiver, Sender};
pub use memory::{AccessClass, AccessSourceKind, MemoryOrder, MemoryReply, MemoryTelemetry, NodeMemory};
pub use message::{
    ClientOrder, EndReport, FromAgent, Hello, MtuHole, MtuProbe, MtuResult, Order, Progress, Reply,
    ServerOrder, ToAgent, VERSION,
};
pub use nested_run::{Commission, DesignDecision, FromNestedRun, RunEvent, ToNestedRun};
pub use observe::{BreakdownOrder, HostCpu, Observation, ObserveOrder, Observing, Subject, WatchedDevice};
pub use token::Token;

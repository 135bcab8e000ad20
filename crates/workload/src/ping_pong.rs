//! Messages there and back.

mod measurement;
mod settings;

pub use measurement::{MessagesEnd, OpenLoopData, PingPongData, PingPongEnd, PingPongInterval};
pub use settings::{Background, PingPongSettings, Schedule, Waiting};

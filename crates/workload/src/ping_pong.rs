//! Messages there and back.

mod measurement;
mod settings;

pub use measurement::{OpenLoopData, PingPongData, PingPongInterval};
pub use settings::{Background, PingPongSettings, Schedule, Waiting};

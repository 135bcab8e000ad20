//! A bulk transfer over TCP or UDP.

mod measurement;
mod settings;

pub use measurement::{DatagramSample, EndSeries, Flow, FlowEnd, Interval, StreamData, StreamEnd, TcpSample};
pub use settings::{Direction, Mode, StreamSettings, Until};

//! What a run recorded: trials, interval series, histograms, provenance.
//!
//! Plain, versioned values that are stored, shipped and read again alone. Nothing here was computed from
//! several trials (that is `findings`), and nothing here says how it was measured or kept.

mod connect;
mod cpu;
mod doubt;
mod environment;
mod histogram;
mod ping_pong;
mod run;
mod socket;
mod stream;
mod time;
mod trial;

pub use connect::{ConnectData, ConnectInterval};
pub use cpu::{CpuUsage, MachineCpu, ThreadCpu, ThreadRole};
pub use doubt::Doubt;
pub use environment::{Calibration, Environment};
pub use histogram::LatencyHistogram;
pub use ping_pong::{OpenLoopData, PingPongData, PingPongInterval};
pub use run::{
    CellRecord, PathRecord, RunHeader, RunId, RunRecord, RunState, SCHEMA, ScenarioRecord, Sink, Skipped,
};
pub use socket::SocketFacts;
pub use stream::{DatagramSample, EndSeries, Flow, Interval, StreamData, TcpSample};
pub use time::UnixMillis;
pub use trial::{Arm, DeviceState, Measurement, PathCheck, Trial};

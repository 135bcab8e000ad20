//! What a run recorded: trials, interval series, histograms, provenance.
//!
//! Plain, versioned values that are stored, shipped and read again alone. Nothing here was computed from
//! several trials (that is `findings`), and nothing here says how it was measured or kept.

mod cpu;
mod environment;
mod histogram;
mod run;
mod settings;
mod time;
mod trial;

pub use cpu::{CpuUsage, MachineCpu, ThreadCpu, ThreadRole};
pub use environment::Environment;
pub use histogram::LatencyHistogram;
pub use run::{
    CellRecord, PathRecord, RunHeader, RunId, RunRecord, RunState, SCHEMA, ScenarioRecord, Sink, Skipped,
};
pub use settings::{Direction, LoadSettings, PingPongSettings, StreamSettings, Transport, Until};
pub use time::UnixMillis;
pub use trial::{
    Arm, DeviceState, Doubt, EndSeries, Flow, Interval, Measurement, PathCheck, PingPongData, SocketFacts,
    StreamData, TcpSample, Trial,
};

//! Workloads and their measurements, one module per kind.

mod balloon;
mod column;
mod connect;
mod first_touch;
mod histogram;
mod kind;
mod metric;
mod ping_pong;
mod placement;
mod reported;
mod socket;
mod stream;
mod work;

pub use balloon::{BalloonData, BalloonInterval, BalloonMethod, BalloonMove, BalloonSettings};
pub use column::Column;
pub use connect::{ConnectData, ConnectEnd, ConnectInterval, ConnectSettings};
pub use first_touch::{FirstTouchData, FirstTouchInterval, FirstTouchSettings};
pub use histogram::LatencyHistogram;
pub use kind::{
    EndMeasurement, KindMeasurement, KindSettings, LiveRate, Measurement, Transport, WorkloadKind,
    WorkloadSettings,
};
pub use metric::Metric;
pub use ping_pong::{
    Background, MessagesEnd, OpenLoopData, PingPongData, PingPongEnd, PingPongInterval, PingPongSettings,
    Schedule, Waiting,
};
pub use placement::Placement;
pub use reported::{Quantity, ReportedData, ReportedValue};
pub use socket::{SocketFacts, SocketSettings};
pub use stream::{
    DatagramSample, Direction, EndSeries, Flow, FlowEnd, Interval, Mode, StreamData, StreamEnd,
    StreamSettings, TcpSample, Until,
};
pub use work::Work;

//! Workloads and their measurements, with one module per kind.

mod column;
mod guarded;
mod histogram;
mod kind;
mod metric;
mod packet;
mod placement;
mod socket;
mod work;

pub use column::Column;
pub use guarded::{GuardedMetric, GuardedSample};
pub use histogram::LatencyHistogram;
pub use kind::balloon::{BalloonData, BalloonInterval, BalloonMethod, BalloonMove, BalloonSettings};
pub use kind::connect::{ConnectData, ConnectEnd, ConnectInterval, ConnectSettings};
pub use kind::first_touch::{FirstTouchData, FirstTouchInterval, FirstTouchSettings};
pub use kind::ping_pong::{
    Background, MessagesEnd, OpenLoopData, PingPongData, PingPongEnd, PingPongInterval, PingPongSettings,
    Schedule, Waiting,
};
pub use kind::reported::{ReportedData, ReportedValue};
pub use kind::stream::{
    DatagramSample, Direction, EndSeries, Flow, FlowEnd, Interval, Mode, StreamData, StreamEnd,
    StreamSettings, TcpSample, Until,
};
pub use kind::{
    EndMeasurement, KindMeasurement, KindSettings, LiveRate, Measurement, Transport, WorkloadKind,
    WorkloadSettings,
};
pub use metric::{Metric, Quantity};
pub use packet::{LEAST_IPV6_MTU, ip_header, udp_headers};
pub use placement::Placement;
pub use socket::{SocketFacts, SocketSettings};
pub use work::Work;

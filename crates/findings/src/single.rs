//! A single measurement without a baseline or noise floor, e.g. by `plumb client` or `plumb ping`.

use samples::{Environment, UnixMillis, ValidityWarning};
use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos};
use workload::{Direction, WorkloadSettings};

use crate::{
    claim::Finding,
    distribution::Distribution,
    estimate::Interval,
    latency::{ConnectSummary, LatencySummary},
    result::{CpuCost, EndSocket, LevelShift},
    stream::{DatagramSummary, TcpSummary},
    verdict::SingleVerdict,
};

/// Readers reject other versions.
pub const SINGLE_SCHEMA: u32 = 1;

/// The analysis of a single trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleMeasurement {
    /// [`SINGLE_SCHEMA`] at the time of writing.
    pub schema: u32,
    /// Version of plumb that made the measurement.
    pub tool: String,
    pub started: UnixMillis,
    /// Peer as given by the user, e.g. `10.0.0.2:5201`.
    pub peer: String,
    /// The traffic, including all defaults.
    pub load: WorkloadSettings,
    /// Short description, e.g. `1 TCP stream forward, 128 KiB writes, cubic, free placement`.
    pub words: String,
    /// The machine at this end, if known.
    pub environment: Option<Environment>,
    pub verdict: SingleVerdict,
    /// The measurement. `None` if no data arrived.
    pub outcome: Option<SingleOutcome>,
    /// CPU cost. Counts a peer on another machine as zero.
    pub cpu: CpuCost,
    /// Effective socket settings of each known end.
    pub sockets: Vec<EndSocket>,
    /// Level shifts in chronological order.
    pub shifts: Vec<LevelShift>,
    /// Bimodality. `None` if a few level shifts explain it.
    pub bimodal: Option<SingleLevels>,
    pub warnings: Vec<ValidityWarning>,
    /// Settings that probably limit performance, with remedies, the most severe first.
    pub hints: Vec<Finding>,
}

/// The measurement for each kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SingleOutcome {
    Stream(SingleStream),
    PingPong(LatencySummary),
    Connect(SingleConnect),
}

impl SingleOutcome {
    /// Uncertainty of the mean rate. `None` for times, or if there are too few intervals.
    #[must_use]
    pub const fn spread(&self) -> Option<&Spread> {
        match self {
            Self::Stream(stream) => stream.received.spread.as_ref(),
            Self::Connect(connect) => connect.rate.spread.as_ref(),
            Self::PingPong(_) => None,
        }
    }
}

/// A single stream. Rates are in bits per second and exclude the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleStream {
    /// Total rate received over all connections. This rate is the result.
    pub received: SingleRate,
    /// Rate accepted by the senders' sockets. `None` if unknown.
    pub sent: Option<SingleRate>,
    /// Forward rate received, for bidirectional traffic.
    pub forward: Option<f64>,
    /// Reverse rate received, for bidirectional traffic.
    pub reverse: Option<f64>,
    /// Received payload.
    pub bytes: Bytes,
    pub elapsed: Nanos,
    pub flows: Vec<SingleFlow>,
    pub tcp: Option<TcpSummary>,
    pub datagrams: Option<DatagramSummary>,
    /// Lateness of messages, for rate-limited senders.
    pub lateness: Option<Distribution>,
    /// Standard deviation of the interval rates as a fraction of their mean.
    pub stability: Option<f64>,
}

impl SingleStream {
    #[must_use]
    pub const fn of(single: &SingleMeasurement) -> Option<&Self> {
        if let Some(SingleOutcome::Stream(stream)) = &single.outcome { Some(stream) } else { None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleFlow {
    /// Connection number within its direction.
    pub id: u32,
    /// Forward or reverse.
    pub direction: Direction,
    /// Rate accepted by the sender's socket, in bits per second. `None` if unknown.
    pub sent: Option<f64>,
    /// Rate received, in bits per second. `None` if unknown.
    pub received: Option<f64>,
    /// Retransmitted TCP segments.
    pub retransmits: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleRate {
    /// Mean rate, in the unit of the outcome.
    pub rate: f64,
    /// `None` if there are too few intervals, or if there is a level shift. For a stream, only the receiver's rate
    /// has a spread, or only the sender's if the receiver reported just a total.
    pub spread: Option<Spread>,
}

/// Uncertainty of a rate, from the intervals of a single trial. Excludes variation between trials, e.g. due to
/// placement, other tenants or the order of connections.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Interval of the mean rate, corrected for autocorrelation.
    pub interval: Interval,
    /// The end that supplied the intervals: `receiver`, `sender` or `client`.
    pub end: String,
    pub intervals: u32,
    pub length: Nanos,
    /// Effective number of independent intervals.
    pub worth: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleConnect {
    /// Completed connections per second.
    pub rate: SingleRate,
    pub times: ConnectSummary,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleLevels {
    /// `intervals` or `round trips`.
    pub quantity: String,
    /// Lower level, in bits per second or nanoseconds.
    pub low: f64,
    /// Upper level, in the same unit.
    pub high: f64,
    /// Fraction of the samples at the upper level, from 0 to 1.
    pub share_high: f64,
    /// Whether the threads were unpinned, the usual cause.
    pub unpinned: bool,
}

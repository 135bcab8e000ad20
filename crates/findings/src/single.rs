//! A single measurement, e.g. by `plumb client` or `plumb ping`, without baseline or noise floor.

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
};

/// Readers reject other versions.
pub const SINGLE_SCHEMA: u32 = 1;

/// The analysis of a single trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleMeasurement {
    /// [`SINGLE_SCHEMA`] at the time of writing.
    pub schema: u32,
    /// Version of plumb that measured.
    pub tool: String,
    /// Start time.
    pub started: UnixMillis,
    /// Peer as given by the user, e.g. `10.0.0.2:5201`.
    pub peer: String,
    /// Traffic with all defaults filled in.
    pub load: WorkloadSettings,
    /// Short description, e.g. `1 TCP stream forward, 128 KiB writes, cubic, free placement`.
    pub words: String,
    /// The machine at this end, if known.
    pub environment: Option<Environment>,
    /// Measurement; `None` if no data arrived.
    pub outcome: Option<SingleOutcome>,
    /// CPU cost; zero for a peer on another machine.
    pub cpu: CpuCost,
    /// Effective socket settings of each known end.
    pub sockets: Vec<EndSocket>,
    /// Level shifts, in order of time.
    pub shifts: Vec<LevelShift>,
    /// Bimodality, unless a few level shifts explain it.
    pub bimodal: Option<SingleLevels>,
    /// Warnings.
    pub warnings: Vec<ValidityWarning>,
    /// Likely limiting settings and remedies, most severe first.
    pub hints: Vec<Finding>,
}

/// Measurement, by kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SingleOutcome {
    Stream(SingleStream),
    PingPong(LatencySummary),
    /// Connections.
    Connect(SingleConnect),
}

/// A single stream. Rates in bits per second, without the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleStream {
    /// Rate at the receivers, all connections together: the result.
    pub received: SingleRate,
    /// Rate accepted by the senders' sockets; `None` if unknown.
    pub sent: Option<SingleRate>,
    /// Forward rate at the receiver, for bidirectional traffic.
    pub forward: Option<f64>,
    /// Reverse rate at the receiver, for bidirectional traffic.
    pub reverse: Option<f64>,
    /// Received payload.
    pub bytes: Bytes,
    /// Duration.
    pub elapsed: Nanos,
    /// All connections.
    pub flows: Vec<SingleFlow>,
    pub tcp: Option<TcpSummary>,
    pub datagrams: Option<DatagramSummary>,
    /// Lateness of messages, for senders with a rate.
    pub lateness: Option<Distribution>,
    /// Standard deviation of the interval rates as a share of their mean.
    pub stability: Option<f64>,
}

impl SingleStream {
    /// `None` for other kinds or without data.
    #[must_use]
    pub const fn of(single: &SingleMeasurement) -> Option<&Self> {
        if let Some(SingleOutcome::Stream(stream)) = &single.outcome { Some(stream) } else { None }
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleFlow {
    /// Number among the connections of its direction.
    pub id: u32,
    /// Forward or reverse, never both.
    pub direction: Direction,
    /// Rate accepted by the sender's socket, bits per second; `None` if unknown.
    pub sent: Option<f64>,
    /// Rate at the receiver, bits per second; `None` if unknown.
    pub received: Option<f64>,
    /// Retransmitted TCP segments.
    pub retransmits: Option<u64>,
}

/// The rate of a single trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleRate {
    /// Total divided by duration, in the unit of the outcome.
    pub rate: f64,
    /// Uncertainty; `None` with too few intervals or a level shift. For a stream only the receiver's rate has it, or the
    /// sender's if the receiver reported only a total.
    pub spread: Option<Spread>,
}

/// Uncertainty of a rate from the intervals of a single trial. Does not include variation between trials (placement, other
/// tenants, connection order).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Interval of the mean rate, corrected for autocorrelation.
    pub interval: Interval,
    /// Source of the intervals: `receiver`, `sender` or `client`.
    pub end: String,
    /// Number of intervals.
    pub intervals: u32,
    pub length: Nanos,
    /// Equivalent number of independent intervals.
    pub worth: f64,
}

/// Connections of a single trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleConnect {
    /// Complete connections per second.
    pub rate: SingleRate,
    pub times: ConnectSummary,
}

/// Bimodality within a trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleLevels {
    /// `intervals` or `round trips`.
    pub quantity: String,
    /// Lower level: bits per second, or nanoseconds.
    pub low: f64,
    /// Upper level, in the same unit.
    pub high: f64,
    /// Share of samples at the upper level, 0 to 1.
    pub share_high: f64,
    /// Whether the threads were unpinned, the usual cause.
    pub unpinned: bool,
}

//! What one trial says alone, as after a `plumb client` or `plumb ping`: no baseline, no noise floor.

use samples::{Environment, UnixMillis, ValidityWarning};
use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos};
use workload::{Direction, WorkloadSettings};

use crate::{
    cell::{CpuCost, EndSocket},
    claim::Finding,
    distribution::Distribution,
    estimate::Interval,
    latency::{ConnectSummary, LatencySummary},
    stream::{DatagramSummary, TcpSummary},
};

/// The version of [`SingleMeasurement`]'s shape. A reader refuses another one.
pub const SOLO_SCHEMA: u32 = 2;

/// Everything that analysis says of one trial alone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleMeasurement {
    /// [`SOLO_SCHEMA`] when it was written.
    pub schema: u32,
    /// The version of plumb that measured.
    pub tool: String,
    /// When the trial began.
    pub started: UnixMillis,
    /// What it was measured against, as the user named it: `10.0.0.2:5201`.
    pub peer: String,
    /// What was sent, every default filled in.
    pub load: WorkloadSettings,
    /// The same in a few words: `1 TCP stream forward, 128 KiB writes, cubic, free placement`.
    pub words: String,
    /// The machine at this end, where known.
    pub environment: Option<Environment>,
    /// What was measured; `None` when nothing came through.
    pub outcome: Option<SingleOutcome>,
    /// What it cost in CPU time; of a peer on another machine nothing is known, and its share is zero.
    pub cpu: CpuCost,
    /// What the kernel gave the sockets of each end that is known.
    pub sockets: Vec<EndSocket>,
    /// Where the rate jumped from one level to another, in the order of time.
    pub shifts: Vec<LevelShift>,
    /// Two levels that the numbers gather at, so that their middle is neither; where a few shifts do not say it.
    pub two_levels: Option<SingleLevels>,
    /// Reasons to distrust it.
    pub doubts: Vec<ValidityWarning>,
    /// Settings that are likely to limit, and what to do about them; the most severe first.
    pub hints: Vec<Finding>,
}

/// What was measured, by kind of load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SingleOutcome {
    Stream(SingleStream),
    PingPong(LatencySummary),
    /// Of connections.
    Connect(SingleConnect),
}

/// A stream on its own. Rates in bits per second, the warm-up left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleStream {
    /// What the receivers got, all connections together. This is the rate that counts.
    pub received: SingleRate,
    /// What the senders' sockets took; `None` when the sender's end is not known.
    pub sent: Option<SingleRate>,
    /// Received forward, where both directions flowed.
    pub forward: Option<f64>,
    /// Received in reverse, where both directions flowed.
    pub reverse: Option<f64>,
    /// Payload received.
    pub bytes: Bytes,
    /// In this time.
    pub elapsed: Nanos,
    /// Every connection.
    pub flows: Vec<SingleFlow>,
    /// What TCP saw of it.
    pub tcp: Option<TcpSummary>,
    /// The datagrams of UDP.
    pub datagrams: Option<DatagramSummary>,
    /// How late messages left, of senders with a rate.
    pub lateness: Option<Distribution>,
    /// Standard deviation of the intervals' rates as a share of their mean.
    pub stability: Option<f64>,
}

impl SingleStream {
    /// That of a trial of a stream; `None` of another kind, or when nothing came through.
    #[must_use]
    pub const fn of(solo: &SingleMeasurement) -> Option<&Self> {
        if let Some(SingleOutcome::Stream(stream)) = &solo.outcome { Some(stream) } else { None }
    }
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleFlow {
    /// Its number among those of its direction.
    pub id: u32,
    /// Which way it flowed: never `both`.
    pub direction: Direction,
    /// What its sender's socket took, bits per second; `None` when that end is not known.
    pub sent: Option<f64>,
    /// What its receiver got, bits per second; `None` when that end is not known.
    pub received: Option<f64>,
    /// Segments sent again, of TCP.
    pub retransmits: Option<u64>,
}

/// A rate of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleRate {
    /// All that was counted over all its time, in the unit of the outcome.
    pub rate: f64,
    /// How sure it is; `None` when there were too few intervals, or the rate jumped. Of a stream only one end's rate
    /// has it: the receiver's, or the sender's where the receiver told no more than a total.
    pub spread: Option<Spread>,
}

/// How sure a rate is, from the trial's own intervals. What changes from one trial to the next (placement, other
/// tenants, the order of connections) is not in it: only a run of several trials shows that.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// An interval for the mean rate that heeds that neighbouring intervals are alike.
    pub interval: Interval,
    /// Whose intervals: `receiver`, `sender`, `client`.
    pub of: String,
    /// How many of them.
    pub intervals: u32,
    pub length: Nanos,
    /// So many independent ones would say as much.
    pub worth: f64,
}

/// A time at which the rate jumped and stayed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LevelShift {
    /// Since the warm-up's end.
    pub at: Nanos,
    /// The level before, in the unit of the outcome.
    pub before: f64,
    pub after: f64,
}

/// Connections on their own.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleConnect {
    /// Connections made, used and closed per second.
    pub rate: SingleRate,
    pub times: ConnectSummary,
}

/// Two levels that the numbers of a trial gather at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SingleLevels {
    /// What gathers: `intervals`, `round trips`.
    pub of: String,
    /// The lower level: bits per second, or nanoseconds.
    pub low: f64,
    /// The upper level, in the same unit.
    pub high: f64,
    /// Share of the numbers at the upper level, 0 to 1.
    pub share_high: f64,
    /// Whether the scheduler was free to move the threads: then this is the likely cause.
    pub unpinned: bool,
}

//! What the trials of one cell say together.

use std::collections::BTreeMap;

use samples::{DeviceState, Doubt, LatencyHistogram, SocketFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::estimate::{Comparison, Estimate};

/// What a cell is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload received per second, all connections together, in bits per second. More is better.
    Throughput,
    /// Median round trip, in nanoseconds. Less is better.
    RoundTrip,
}

impl Metric {
    /// Whether a higher value is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self == Self::Throughput
    }
}

/// A cell in numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellSummary {
    /// Its identity.
    pub id: String,
    /// Its path.
    pub path: String,
    /// The layers of its path.
    pub layers: Vec<String>,
    /// Its workload.
    pub workload: String,
    /// What the workload sends, in a few words: `1 TCP stream forward, 128 KiB writes, cubic, cross-cpu`.
    pub load: String,
    /// Levels of the factors, by label.
    pub levels: BTreeMap<String, String>,
    /// Whether it is its workload's baseline.
    pub baseline: bool,
    /// What it is judged by.
    pub metric: Metric,
    /// That metric over its trials.
    pub value: Estimate,
    /// Each trial's value, in order of blocks.
    pub values: Vec<f64>,
    /// Against the baseline of its workload; `None` for the baseline itself.
    pub against_baseline: Option<Comparison>,
    /// Of streams.
    pub stream: Option<StreamSummary>,
    /// Of ping-pongs.
    pub latency: Option<LatencySummary>,
    /// What it cost.
    pub cpu: CpuCost,
    /// The devices of its path as they were set.
    pub devices: Vec<DeviceState>,
    /// The largest IP packet that went end to end unfragmented, where probed.
    pub path_mtu: Option<u32>,
    /// Doubts of its trials, each kind once, the strongest, and how many trials had it.
    pub doubts: Vec<(Doubt, u32)>,
}

/// What a stream says beside its receiver's rate. Rates in bits per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamSummary {
    /// What the senders' sockets took: average TX.
    pub sent: Estimate,
    /// What the receivers got: average RX (the metric).
    pub received: Estimate,
    /// Received forward; `None` when nothing flowed forward.
    pub forward: Option<Estimate>,
    /// Received in reverse.
    pub reverse: Option<Estimate>,
    /// Segments sent again, all trials and connections together.
    pub retransmits: u64,
    /// Smallest and largest congestion window seen.
    pub cwnd: Option<(Bytes, Bytes)>,
    /// Median over the intervals of the smoothed RTT that TCP saw under this load.
    pub rtt: Option<Nanos>,
    /// Standard deviation of the intervals' rates within a trial as a share of their mean; the median trial's.
    pub stability: Option<f64>,
    /// What the kernel gave the first sender's socket.
    pub sender_socket: SocketFacts,
    /// What it gave the first receiver's.
    pub receiver_socket: SocketFacts,
}

/// The round trips of a cell: all trials' histograms merged. Round trip, never half of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencySummary {
    /// Shortest.
    pub min: Nanos,
    /// (share of all, time that it does not exceed): 25, 50, 75, 90, 99, 99.9 %.
    pub percentiles: Vec<(f64, Nanos)>,
    /// Longest.
    pub max: Nanos,
    /// Mean, nanoseconds.
    pub mean: f64,
    /// Standard deviation, nanoseconds.
    pub deviation: f64,
    /// Round trips counted.
    pub count: u64,
    /// Round trips per second.
    pub rate: f64,
    /// Messages that never came back.
    pub lost: u64,
    /// The distribution itself.
    pub histogram: LatencyHistogram,
}

/// CPU time of a cell's trials (median over the trials).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuCost {
    /// CPUs of the machine.
    pub cpus: u32,
    /// CPUs that were busy on average, system-wide.
    pub busy: f64,
    /// Of these, in user space.
    pub user: f64,
    /// In the kernel for a task.
    pub system: f64,
    /// In soft and hard interrupts.
    pub interrupts: f64,
    /// Stolen by the hypervisor, in CPUs.
    pub steal: f64,
    /// CPUs that the client's traffic threads used.
    pub client: f64,
    /// CPUs that the server's traffic threads used.
    pub server: f64,
    /// System-wide CPU-seconds per 10^9 bytes received; `None` for ping-pongs.
    pub per_gigabyte: Option<f64>,
    /// System-wide CPU-seconds per million round trips; `None` for streams.
    pub per_million_messages: Option<f64>,
}

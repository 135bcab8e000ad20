//! A trial: one workload, on one path, at one setting of the factors; what was recorded of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{cpu::CpuUsage, histogram::LatencyHistogram, settings::Direction, time::UnixMillis};

/// Why a trial was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// To measure its cell.
    Measure,
    /// The baseline once more: what equal settings differ by.
    Again,
}

/// A finished trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Its place in the plan, from 0.
    pub index: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Its cell's identity.
    pub cell: String,
    /// Why it was made.
    pub arm: Arm,
    /// When it began.
    pub started: UnixMillis,
    /// What was measured.
    pub measurement: Measurement,
    /// CPU time of the machine and of the agents' threads while it was measured.
    pub cpu: CpuUsage,
    /// The devices of its path as the kernel reported them just before it.
    pub devices: Vec<DeviceState>,
    /// What was checked about its path just before it.
    pub path_check: PathCheck,
    /// Reasons to distrust it.
    pub doubts: Vec<Doubt>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial: a box would save nothing that counts")]
pub enum Measurement {
    /// Of a stream: every connection, at both ends.
    Stream(StreamData),
    /// Of a ping-pong: the round trips.
    PingPong(PingPongData),
}

/// The connections of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamData {
    /// Every connection, forward ones first.
    pub flows: Vec<Flow>,
}

/// One connection, seen from both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Its number among those of its direction, from 0.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// The sender's record: counts what the socket took.
    pub sender: EndSeries,
    /// The receiver's record: counts what the application got. This is the rate that counts.
    pub receiver: EndSeries,
}

/// One end's record of a connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndSeries {
    /// Samples in order of time, without gaps, the warm-up's included.
    pub intervals: Vec<Interval>,
    /// What the kernel really gave this socket.
    pub socket: SocketFacts,
}

impl EndSeries {
    /// The intervals after the warm-up.
    pub fn measured(&self) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(|interval| !interval.warmup)
    }

    /// Bytes after the warm-up.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.measured().map(|interval| interval.bytes).sum()
    }

    /// Time after the warm-up.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.measured().map(|interval| interval.end - interval.start).sum()
    }

    /// The rate after the warm-up.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        BitRate::of(self.bytes(), self.elapsed())
    }

    /// The rate of several ends together after the warm-up: all their bytes over the longest of their times, so
    /// that a connection that ended early does not count as if it had gone on.
    #[must_use]
    pub fn rate_together<'a>(ends: impl Iterator<Item = &'a Self>) -> BitRate {
        let (bytes, longest) = ends.fold((Bytes(0), Nanos(0)), |(bytes, longest), end| {
            (bytes + end.bytes(), longest.max(end.elapsed()))
        });
        BitRate::of(bytes, longest)
    }

    /// Segments sent again after the warm-up.
    #[must_use]
    pub fn retransmits(&self) -> u64 {
        self.measured().filter_map(|interval| interval.tcp).map(|tcp| u64::from(tcp.retransmits)).sum()
    }
}

/// A sample of one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// From this time, since the connection's first byte at this end.
    pub start: Nanos,
    /// To this time.
    pub end: Nanos,
    /// Payload that this end wrote or read in it.
    pub bytes: Bytes,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// TCP_INFO at its end.
    pub tcp: Option<TcpSample>,
}

impl Interval {
    /// Its rate.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        BitRate::of(self.bytes, self.end - self.start)
    }
}

/// What TCP_INFO said at the end of an interval (linux/tcp.h, `struct tcp_info`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// Segments sent again in the interval.
    pub retransmits: u32,
    /// Congestion window, in bytes (segments times the sending MSS).
    pub cwnd: Bytes,
    /// Smoothed round-trip time.
    pub rtt: Nanos,
    /// Its variation.
    pub rtt_variation: Nanos,
    /// The rate at which the socket paces; `None` when it does not.
    pub pacing: Option<BitRate>,
    /// Time in the interval for which the peer's window held the sender back.
    pub receive_window_limited: Nanos,
    /// Time in the interval for which the send buffer held the sender back.
    pub send_buffer_limited: Nanos,
}

/// What the kernel really gave a socket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SocketFacts {
    /// Congestion control, of TCP.
    pub congestion: Option<String>,
    /// Largest segment it may send, of TCP.
    pub mss: Option<u32>,
    /// Send buffer, as the kernel counts it.
    pub send_buffer: Option<Bytes>,
    /// Receive buffer, as the kernel counts it.
    pub receive_buffer: Option<Bytes>,
    /// Where its thread was pinned.
    pub cpus: Option<Vec<u32>>,
    /// Both addresses, `local -> remote`, as this end sees them.
    pub addresses: Option<String>,
}

/// The round trips of a ping-pong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PingPongData {
    /// Every round trip after the warm-up, in nanoseconds.
    pub round_trips: LatencyHistogram,
    /// For how long they were made.
    pub elapsed: Nanos,
    /// Messages that never came back (UDP): timed out and sent anew.
    pub lost: u64,
    /// What the kernel gave the client's socket.
    pub client: SocketFacts,
    /// What it gave the server's.
    pub server: SocketFacts,
}

/// A device as the kernel reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceState {
    /// `host:device`.
    pub device: String,
    /// What it is: `veth`, `bridge`, `vxlan`.
    pub kind: String,
    /// Its MTU.
    pub mtu: u32,
    /// Offload features by the kernel's names, on or off as active.
    pub features: BTreeMap<String, bool>,
    /// The largest packet that segmentation offload may build (IPv4).
    pub gso_max_size: Option<Bytes>,
    /// The largest packet that receive offload may build (IPv4).
    pub gro_max_size: Option<Bytes>,
}

/// What was checked about a path just before a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCheck {
    /// The largest IP packet that went end to end unfragmented; `None` when not probed.
    pub mtu: Option<u32>,
}

/// A reason to distrust a number; it travels with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Doubt {
    /// A sending thread was busy nearly all the time: it, and not the path, may be the limit.
    GeneratorLimited {
        /// Which end.
        end: String,
        /// Its busiest thread's share of one CPU, 0 to 1.
        busy: f64,
    },
    /// A receiving thread was busy nearly all the time.
    ReceiverLimited {
        /// Which end.
        end: String,
        /// Its busiest thread's share of one CPU, 0 to 1.
        busy: f64,
    },
    /// The hypervisor took CPU time away.
    Stolen {
        /// Share of the machine's time, 0 to 1.
        share: f64,
    },
    /// Others on this machine used CPU time that the lab did not cause.
    BusyHost {
        /// Runnable tasks per CPU before the run, from the load average.
        load_per_cpu: f64,
    },
    /// The measured part was clearly shorter or longer than asked, at one end of one connection at least.
    OtherDuration {
        /// What was asked.
        asked: Nanos,
        /// What was measured where it differs most.
        measured: Nanos,
    },
    /// Both ends disagree on what was carried, although the receiver read to the end of the stream.
    EndsDisagree {
        /// Payload the sender's socket took.
        sent: Bytes,
        /// Payload the receiver got.
        received: Bytes,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ended_early_does_not_count_as_if_it_had_gone_on() {
        let end = |millis: u64, bytes: u64| {
            let (start, end) = (Nanos(0), Nanos::from_millis(millis));
            let interval = Interval { start, end, bytes: Bytes(bytes), warmup: false, tcp: None };
            EndSeries { intervals: vec![interval], ..EndSeries::default() }
        };
        for (ends, expected) in [
            (vec![end(1000, 500), end(1000, 500)], 8000.0),
            (vec![end(100, 500), end(1000, 500)], 8000.0),
            (vec![EndSeries::default(), end(1000, 500)], 4000.0),
        ] {
            assert_eq!(EndSeries::rate_together(ends.iter()), BitRate(expected));
        }
    }
}

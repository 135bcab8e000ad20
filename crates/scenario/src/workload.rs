//! A workload: what is sent over a path, with every default filled in.

use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::names::{PathName, WorkloadName};

/// Which way payload flows; the client is the end that connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From client to server.
    Forward,
    /// From server to client.
    Reverse,
    /// Both at once, over connections of their own.
    Both,
}

/// When a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// After this long, the warm-up not counted.
    Elapsed(Nanos),
    /// After this many bytes in all, over all connections of a direction; there is no warm-up then.
    Sent(Bytes),
}

/// The transport of a ping-pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// One connection, messages of fixed size.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Where the threads of the two ends run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Where the scheduler puts them.
    Free,
    /// Both ends on one CPU.
    SameCpu,
    /// Each end on a CPU of its own.
    CrossCpu,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Load {
    /// TCP bulk transfer: throughput.
    Stream(StreamLoad),
    /// One message there and back at a time: round-trip latency, closed loop.
    PingPong(PingPongLoad),
}

/// A TCP bulk transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamLoad {
    /// Parallel connections in each direction that flows.
    pub streams: u32,
    /// Which way.
    pub direction: Direction,
    /// When it ends.
    pub until: Until,
    /// Left out of the summary at the start of each trial.
    pub warmup: Nanos,
    /// The size of each write and read.
    pub message: Bytes,
    /// The congestion control set on every socket; `None` is the kernel's default (recorded all the same).
    pub congestion: Option<String>,
    /// How often both ends take a sample.
    pub interval: Nanos,
}

/// A closed-loop ping-pong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingPongLoad {
    /// TCP or UDP.
    pub transport: Transport,
    /// The size of the message, the same both ways.
    pub message: Bytes,
    /// How long it is measured, the warm-up not counted.
    pub duration: Nanos,
    /// Left out of the histogram at the start of each trial.
    pub warmup: Nanos,
    /// The congestion control for TCP.
    pub congestion: Option<String>,
}

/// A workload of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name.
    pub name: WorkloadName,
    /// What is sent.
    pub load: Load,
    /// Where the ends run.
    pub placement: Placement,
    /// The paths it runs on, in the order of the document.
    pub paths: Vec<PathName>,
}

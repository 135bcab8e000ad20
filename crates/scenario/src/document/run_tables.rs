//! The tables that describe what is run on the lab, as written. Their field docs are the descriptions in the
//! JSON Schema.

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use units::{Bytes, Nanos};

use super::written::{As, Value};
use crate::names::DeviceRef;

/// A path: from one end to another through named layers. The client is at `from`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathTable {
    /// The client's end: `host:device`, or the host alone if only one of its devices has an address.
    #[schemars(with = "String", example = &"node1:eth0")]
    pub(crate) from: Spanned<String>,
    /// The server's end, written alike.
    #[schemars(with = "String", example = &"target")]
    pub(crate) to: Spanned<String>,
    /// Every layer that a packet meets on its way there: any of `wire`, `veth`, `bridge`, `vxlan`, `gateway`. The
    /// check follows a packet and refuses the scenario where it meets others.
    #[schemars(with = "Vec<LayerWord>")]
    pub(crate) layers: Spanned<Vec<Spanned<LayerWord>>>,
    /// Whether the other paths are shown as a share of this one. True for exactly one path.
    #[schemars(with = "Option<bool>")]
    pub(crate) baseline: Option<Spanned<bool>>,
    /// What it shows, in a few words.
    #[serde(default)]
    pub(crate) about: String,
}

/// A layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LayerWord {
    /// A wire between two hosts.
    Wire,
    /// The veth pair of a guest or pod.
    Veth,
    /// A bridge.
    Bridge,
    /// A VXLAN tunnel.
    Vxlan,
    /// An egress gateway.
    Gateway,
}

/// The kind of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KindWord {
    /// TCP bulk transfer: throughput.
    Stream,
    /// One message there and back at a time: round-trip latency.
    PingPong,
}

/// What is sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadTable {
    /// `stream` (throughput) or `ping-pong` (latency).
    #[schemars(with = "KindWord")]
    pub(crate) kind: Spanned<KindWord>,
    /// Stream: parallel connections, 1 to 1024. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub(crate) streams: Option<Spanned<u32>>,
    /// Stream: `forward` (client to server), `reverse` or `both`. Default: `forward`.
    #[schemars(with = "Option<DirectionWord>")]
    pub(crate) direction: Option<Spanned<DirectionWord>>,
    /// How long it is measured, the warm-up not counted. Default: 2s.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) duration: Option<Spanned<As<Nanos>>>,
    /// Stream: how much is sent, instead of a duration; there is no warm-up then.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) bytes: Option<Spanned<As<Bytes>>>,
    /// What is left out at the start of each trial. Default: 300ms.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) warmup: Option<Spanned<As<Nanos>>>,
    /// The size of each write and read, or of each message. Default: 128KiB for a stream, 64 for a ping-pong.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) message: Option<Spanned<As<Bytes>>>,
    /// TCP: the congestion control of every socket, or `kernel` for the host's own choice. Default: `cubic`, as hosts
    /// differ in theirs.
    #[schemars(with = "Option<String>", example = &"cubic", example = &"bbr")]
    pub(crate) congestion: Option<Spanned<String>>,
    /// Stream: how often both ends take a sample. Default: 100ms.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) interval: Option<Spanned<As<Nanos>>>,
    /// Ping-pong: `udp` or `tcp`. Default: `udp`.
    #[schemars(with = "Option<TransportWord>")]
    pub(crate) transport: Option<Spanned<TransportWord>>,
    /// Where the two ends run: `same-cpu`, `cross-cpu` or `free` (where the scheduler puts them; results are then often
    /// two-humped). Default: `free`.
    pub(crate) placement: Option<PlacementWord>,
    /// The paths that it runs on; the baseline must be among them. Default: all.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) paths: Vec<Spanned<String>>,
}

/// Which way payload flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DirectionWord {
    /// From client to server.
    Forward,
    /// From server to client.
    Reverse,
    /// Both at once.
    Both,
}

/// The transport of a ping-pong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TransportWord {
    /// One connection.
    Tcp,
    /// Datagrams.
    Udp,
}

/// Where the two ends run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlacementWord {
    /// Where the scheduler puts them.
    Free,
    /// Both on one CPU.
    SameCpu,
    /// Each on a CPU of its own.
    CrossCpu,
}

/// What a sweep varies. Every cell that it can change is measured at each of its values.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorTable {
    /// What is varied.
    #[schemars(with = "VaryWord")]
    pub(crate) vary: Spanned<VaryWord>,
    /// The devices that it is set on, each `host:device`. Only for what is a setting of devices.
    #[serde(default)]
    #[schemars(with = "Vec<As<DeviceRef>>")]
    pub(crate) devices: Vec<Spanned<As<DeviceRef>>>,
    /// Its values, at least two; effects are shown against the first.
    #[schemars(with = "Vec<As<Value>>", length(min = 2))]
    pub(crate) values: Spanned<Vec<Spanned<As<Value>>>>,
    /// The paths that it is confined to. Default: all that it can change.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) paths: Vec<Spanned<String>>,
    /// The workloads that it is confined to. Default: all that it can change.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) workloads: Vec<Spanned<String>>,
}

/// What can be varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum VaryWord {
    /// All five offloads of devices: `on`, `off`.
    Offload,
    /// TCP segmentation offload of devices: `on`, `off`.
    Tso,
    /// Generic segmentation offload of devices: `on`, `off`.
    Gso,
    /// Generic receive offload of devices: `on`, `off`.
    Gro,
    /// Checksum offload of devices, both ways: `on`, `off`.
    Checksum,
    /// The MTU of devices: whole numbers.
    Mtu,
    /// The largest packet of segmentation and receive offload of devices: 64KiB to 512KiB.
    BigTcp,
    /// Parallel connections of streams.
    Streams,
    /// Direction of streams: `forward`, `reverse`, `both`.
    Direction,
    /// Message size.
    Message,
    /// Congestion control of TCP workloads.
    Congestion,
    /// Placement: `free`, `same-cpu`, `cross-cpu`.
    Placement,
}

/// How the scenario is run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleTable {
    /// Trials of each cell. Default: 5.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1000))]
    pub(crate) trials: Option<Spanned<u32>>,
    /// Left between two trials. Default: 50ms.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) pause: Option<Spanned<As<Nanos>>>,
    /// The seed of the order of trials. Default: a new one for each run, printed and stored.
    #[schemars(with = "Option<u64>")]
    pub(crate) seed: Option<u64>,
}

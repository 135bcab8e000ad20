//! The tables that describe workloads.

use std::{borrow::Cow, fmt, ops::Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use units::{BitRate, Bytes, Nanos};
use workload::{BalloonMove, Direction, Mode, Transport, Waiting, WorkloadKind};

use super::spanned::Spanned;
use super::written::As;

/// A workload.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadTable {
    /// `stream` (throughput), `ping-pong` (latency), `connect` (connections per second), `first-touch` (page faults)
    /// or `balloon` (memory reclaimed from a virtual machine).
    pub(crate) kind: Spanned<WorkloadKind>,
    /// Stream, ping-pong: `tcp` or `udp`. Default: `tcp` for a stream, `udp` for a ping-pong.
    pub(crate) transport: Option<Spanned<Transport>>,
    /// Stream: `app` (plain writes and reads, like an application) or `limit` (zero-copy, many datagrams per call, to
    /// find what the path can carry). Default: `app`.
    pub(crate) mode: Option<Spanned<Mode>>,
    /// Stream: parallel connections per direction, 1 to 1024. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) streams: Option<Spanned<u32>>,
    /// Stream: `forward` (client to server), `reverse` or `both`. Default: `forward`.
    pub(crate) direction: Option<Spanned<Direction>>,
    /// Stream: payload rate limit per connection. Default: unlimited.
    pub(crate) rate: Option<Spanned<As<BitRate>>>,
    /// Test duration, without the warm-up. Default: 2s.
    pub(crate) duration: Option<Spanned<As<Nanos>>>,
    /// Stream: number of bytes to send, instead of a duration and without a warm-up.
    pub(crate) bytes: Option<Spanned<As<Bytes>>>,
    /// Warm-up at the start of each trial, excluded from results. Default: 300ms.
    pub(crate) warmup: Option<Spanned<As<Nanos>>>,
    /// Stream: size per write and read, or of a datagram's payload. Ping-pong: message size. Default: 128KiB for a
    /// TCP stream, or 1MiB in mode `limit`; 1400 for a UDP stream (fits a tunnel over Ethernet); 64 for a ping-pong.
    pub(crate) message: Option<Spanned<As<Bytes>>>,
    /// Sampling interval. Default: 100ms; 500ms for a ping-pong.
    pub(crate) interval: Option<Spanned<As<Nanos>>>,
    /// Ping-pong: `closed` (send when the previous message has returned) or `open` (send on a schedule). Default:
    /// `closed`.
    pub(crate) schedule: Option<Spanned<Loop>>,
    /// Ping-pong, open loop: time between messages. Default: 100us.
    pub(crate) period: Option<Spanned<As<Nanos>>>,
    /// Ping-pong: how both ends wait, `block` (sleep) or `spin` (poll; occupies a CPU at each end). Default: `block`.
    pub(crate) waiting: Option<Spanned<Waiting>>,
    /// Ping-pong: a TCP background stream on the same path. Default: none.
    pub(crate) under: Option<Spanned<UnderTable>>,
    /// Connect: client threads, each with one connection at a time, 1 to 1024. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) clients: Option<Spanned<u32>>,
    /// Connect: request size. Default: 64.
    pub(crate) request: Option<Spanned<As<Bytes>>>,
    /// Connect: response size. Default: 64.
    pub(crate) response: Option<Spanned<As<Bytes>>>,
    /// First-touch: memory mapped by all threads together, at least 2MiB per thread. Balloon: memory to reclaim or
    /// give back. Default: 256MiB.
    pub(crate) memory: Option<Spanned<As<Bytes>>>,
    /// First-touch: threads that divide the memory between them, 1 to 1024. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) threads: Option<Spanned<u32>>,
    /// First-touch: whether to request transparent huge pages. `false` disables them. Default: false.
    #[serde(rename = "huge-pages")]
    pub(crate) huge_pages: Option<Spanned<bool>>,
    /// Balloon: `shrink` (reclaim memory from the virtual machine) or `grow` (give it back). Default: `shrink`.
    #[serde(rename = "move")]
    pub(crate) movement: Option<Spanned<BalloonMove>>,
    /// Balloon: when shrinking, whether the guest first touches the memory, so that the host allocates it; when
    /// growing, whether the test includes touching the memory. Default: true.
    pub(crate) touched: Option<Spanned<bool>>,
    /// Balloon: whether the guest's kernel compacts its memory (migrates pages) continuously during the test.
    /// Default: false.
    pub(crate) compact: Option<Spanned<bool>>,
    /// TCP: congestion control of all sockets, or `kernel` for the host's default. Default: `cubic`, because hosts
    /// have different defaults.
    #[schemars(example = &"cubic", example = &"bbr")]
    pub(crate) congestion: Option<Spanned<String>>,
    /// TCP: maximum segment size, in bytes. Default: derived from the path's MTU.
    #[schemars(range(min = 88, max = 32767))]
    pub(crate) mss: Option<Spanned<u32>>,
    /// Fixed send and receive buffer size of all sockets. Default: the kernel's autotuning.
    pub(crate) window: Option<Spanned<As<Bytes>>>,
    /// Differentiated services code point, 0 to 63. Default: 0.
    #[schemars(range(max = 63))]
    pub(crate) dscp: Option<Spanned<u8>>,
    /// TCP: whether to disable Nagle's algorithm. Default: false; true for a ping-pong.
    pub(crate) nodelay: Option<Spanned<bool>>,
    /// Client port of the first connection; further connections use the following ports. Default: chosen by the
    /// kernel.
    #[serde(rename = "source-port")]
    #[schemars(range(min = 1))]
    pub(crate) source_port: Option<Spanned<u16>>,
    /// How long a receive may busy-poll the device queue, in whole microseconds. Default: no busy polling.
    #[serde(rename = "busy-poll")]
    pub(crate) busy_poll: Option<Spanned<As<Nanos>>>,
    /// Where the threads of the two ends run: `same-cpu`, `cross-cpu`, `free` (the scheduler decides; results are
    /// often bimodal), or lists of CPUs, `{ client = [0], server = [1] }`. Default: `free`.
    pub(crate) placement: Option<Spanned<PlacementValue>>,
    /// Paths to run on, including the baseline. Default: all.
    #[serde(default)]
    pub(crate) paths: Vec<Spanned<String>>,
    /// Single-ended workloads: hosts to run on. The others are shown relative to the first.
    #[serde(default)]
    pub(crate) hosts: Vec<Spanned<String>>,
}

impl WorkloadTable {
    pub(crate) fn of_kinds(&self) -> Vec<(&'static str, Range<usize>)> {
        fn place<T>(setting: &Option<Spanned<T>>) -> Option<Range<usize>> {
            setting.as_ref().map(Spanned::span)
        }
        [
            ("transport", place(&self.transport)),
            ("mode", place(&self.mode)),
            ("streams", place(&self.streams)),
            ("direction", place(&self.direction)),
            ("rate", place(&self.rate)),
            ("bytes", place(&self.bytes)),
            ("message", place(&self.message)),
            ("schedule", place(&self.schedule)),
            ("period", place(&self.period)),
            ("waiting", place(&self.waiting)),
            ("under", place(&self.under)),
            ("clients", place(&self.clients)),
            ("request", place(&self.request)),
            ("response", place(&self.response)),
            ("memory", place(&self.memory)),
            ("threads", place(&self.threads)),
            ("huge-pages", place(&self.huge_pages)),
            ("move", place(&self.movement)),
            ("touched", place(&self.touched)),
            ("compact", place(&self.compact)),
            ("source-port", place(&self.source_port)),
            ("hosts", self.hosts.first().map(Spanned::span)),
        ]
        .into_iter()
        .filter_map(|(key, place)| Some((key, place?)))
        .collect()
    }
}

/// A TCP background stream for a ping-pong.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnderTable {
    /// `app` or `limit`. Default: `app`.
    pub(crate) mode: Option<Mode>,
    /// Parallel connections per direction, 1 to 1024. Default: 1.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) streams: Option<Spanned<u32>>,
    /// `forward` (client to server), `reverse` or `both`. Default: `forward`.
    pub(crate) direction: Option<Direction>,
    /// Rate limit per connection. Default: unlimited.
    pub(crate) rate: Option<Spanned<As<BitRate>>>,
    /// Size per write and read. Default: 128KiB, 1MiB in mode `limit`.
    pub(crate) message: Option<Spanned<As<Bytes>>>,
}

/// When a ping-pong sends its next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loop {
    /// When the previous message has returned.
    Closed,
    /// On a schedule.
    Open,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlacementValue {
    Free,
    SameCpu,
    CrossCpu,
    Cpus(CpusTable),
}

/// CPUs by number. Thread n of each end runs on entry n of that end's list, modulo the list's length.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CpusTable {
    /// CPUs of the client.
    pub(crate) client: Vec<u32>,
    /// CPUs of the server.
    pub(crate) server: Vec<u32>,
}

const PLACEMENTS: &[&str] = &["free", "same-cpu", "cross-cpu"];

impl<'de> Deserialize<'de> for PlacementValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlacementVisitor)
    }
}

struct PlacementVisitor;

impl<'de> de::Visitor<'de> for PlacementVisitor {
    type Value = PlacementValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a placement, e.g. \"cross-cpu\" or { client = [0], server = [1] }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PlacementValue, E> {
        match text {
            "free" => Ok(PlacementValue::Free),
            "same-cpu" => Ok(PlacementValue::SameCpu),
            "cross-cpu" => Ok(PlacementValue::CrossCpu),
            other => Err(E::unknown_variant(other, PLACEMENTS)),
        }
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<PlacementValue, A::Error> {
        CpusTable::deserialize(de::value::MapAccessDeserializer::new(map)).map(PlacementValue::Cpus)
    }
}

impl JsonSchema for PlacementValue {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Placement")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let cpus = generator.subschema_for::<CpusTable>();
        json_schema!({ "anyOf": [{ "type": "string", "enum": PLACEMENTS }, cpus] })
    }
}

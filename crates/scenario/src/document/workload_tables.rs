//! The tables that describe what is sent, as written. Their field docs are the descriptions in the JSON Schema.

use std::{borrow::Cow, fmt, ops::Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;
use units::{BitRate, Bytes, Nanos};
use workload::{BalloonMove, Direction, Mode, Transport, Waiting, WorkloadKind};

use super::written::As;

/// What is sent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadTable {
    /// `stream` (throughput), `ping-pong` (latency), `connect` (connections a second), `first-touch` (memory touched) or
    /// `balloon` (memory taken from a virtual machine).
    #[schemars(with = "WorkloadKind")]
    pub(crate) kind: Spanned<WorkloadKind>,
    /// Stream, ping-pong: `tcp` or `udp`. Default: `tcp` for a stream, `udp` for a ping-pong.
    #[schemars(with = "Option<Transport>")]
    pub(crate) transport: Option<Spanned<Transport>>,
    /// Stream: `app` (ordinary writes and copying reads: what an application gets) or `limit` (no copy at either end, many
    /// datagrams a call: what the path could carry). Default: `app`.
    #[schemars(with = "Option<Mode>")]
    pub(crate) mode: Option<Spanned<Mode>>,
    /// Stream: parallel connections in each direction, 1 to 1024. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub(crate) streams: Option<Spanned<u32>>,
    /// Stream: `forward` (client to server), `reverse` or `both`. Default: `forward`.
    #[schemars(with = "Option<Direction>")]
    pub(crate) direction: Option<Spanned<Direction>>,
    /// Stream: the rate of payload of each connection. Default: as fast as it goes.
    #[schemars(with = "Option<As<BitRate>>")]
    pub(crate) rate: Option<Spanned<As<BitRate>>>,
    /// How long it is measured, the warm-up not counted. Default: 2s.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) duration: Option<Spanned<As<Nanos>>>,
    /// Stream: how much is sent, instead of a duration; there is no warm-up then.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) bytes: Option<Spanned<As<Bytes>>>,
    /// What is left out at the start of each trial. Default: 300ms.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) warmup: Option<Spanned<As<Nanos>>>,
    /// Stream: the size of each write and read, or of a datagram's payload. Ping-pong: the size of each message. Default:
    /// 128KiB for a TCP stream and 1MiB in mode `limit`; 1400 for a UDP stream, which fits a tunnel over Ethernet; 64
    /// for a ping-pong.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) message: Option<Spanned<As<Bytes>>>,
    /// How often a sample is taken. Default: 100ms; 500ms for a ping-pong.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) interval: Option<Spanned<As<Nanos>>>,
    /// Ping-pong: `closed` (the next message when the last one is back) or `open` (each at its time). Default: `closed`.
    #[schemars(with = "Option<Loop>")]
    pub(crate) schedule: Option<Spanned<Loop>>,
    /// Ping-pong, open: from one message to the next. Default: 100us.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) period: Option<Spanned<As<Nanos>>>,
    /// Ping-pong: how both ends wait, `block` (asleep) or `spin` (asking without end; takes a CPU at either end). Default:
    /// `block`.
    #[schemars(with = "Option<Waiting>")]
    pub(crate) waiting: Option<Spanned<Waiting>>,
    /// Ping-pong: a TCP stream beside the messages, on the same path for the same time. Default: none.
    #[schemars(with = "Option<UnderTable>")]
    pub(crate) under: Option<Spanned<UnderTable>>,
    /// Connect: threads of the client, each with one connection at a time, 1 to 1024. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub(crate) clients: Option<Spanned<u32>>,
    /// Connect: what the client sends on each connection. Default: 64.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) request: Option<Spanned<As<Bytes>>>,
    /// Connect: what the server answers. Default: 64.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) response: Option<Spanned<As<Bytes>>>,
    /// First-touch: what all threads have mapped together, 2MiB for each at least. Balloon: what is taken or given back.
    /// Default: 256MiB.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) memory: Option<Spanned<As<Bytes>>>,
    /// First-touch: threads, each with its part of the memory, 1 to 1024. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub(crate) threads: Option<Spanned<u32>>,
    /// First-touch: whether the kernel is told to make huge pages of the memory, or none. Default: false.
    #[serde(rename = "huge-pages")]
    #[schemars(with = "Option<bool>")]
    pub(crate) huge_pages: Option<Spanned<bool>>,
    /// Balloon: `shrink` (memory is taken from the virtual machine) or `grow` (given back). Default: `shrink`.
    #[serde(rename = "move")]
    #[schemars(with = "Option<BalloonMove>")]
    pub(crate) way: Option<Spanned<BalloonMove>>,
    /// Balloon: whether the guest has touched the memory that is taken, so that the host has it too; of memory that is given
    /// back, whether touching it is measured with it. Default: true.
    #[schemars(with = "Option<bool>")]
    pub(crate) touched: Option<Spanned<bool>>,
    /// Balloon: whether the guest's kernel compacts its memory all the time meanwhile, which moves pages about. Default: false.
    #[schemars(with = "Option<bool>")]
    pub(crate) compact: Option<Spanned<bool>>,
    /// TCP: the congestion control of every socket, or `kernel` for the host's own choice. Default: `cubic`, as hosts
    /// differ in theirs.
    #[schemars(with = "Option<String>", example = &"cubic", example = &"bbr")]
    pub(crate) congestion: Option<Spanned<String>>,
    /// TCP: the largest segment, in bytes. Default: what the path's MTU allows.
    #[schemars(with = "Option<u32>", range(min = 88, max = 32767))]
    pub(crate) mss: Option<Spanned<u32>>,
    /// Send and receive buffer of every socket, which then do not grow. Default: the kernel's, which grow.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) window: Option<Spanned<As<Bytes>>>,
    /// Differentiated services code point, 0 to 63. Default: 0.
    #[schemars(with = "Option<u8>", range(max = 63))]
    pub(crate) dscp: Option<Spanned<u8>>,
    /// TCP: whether small messages leave at once. Default: false; true for a ping-pong.
    #[schemars(with = "Option<bool>")]
    pub(crate) nodelay: Option<Spanned<bool>>,
    /// The client's port of the first connection; each further one has the next. Default: the kernel's choice.
    #[serde(rename = "source-port")]
    #[schemars(with = "Option<u16>", range(min = 1))]
    pub(crate) source_port: Option<Spanned<u16>>,
    /// How long a receive may poll the device's queue, in whole microseconds. Default: not at all.
    #[serde(rename = "busy-poll")]
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) busy_poll: Option<Spanned<As<Nanos>>>,
    /// Where the threads of the two ends run: `same-cpu`, `cross-cpu`, `free` (where the scheduler puts them; results are
    /// then often two-humped), or lists of CPUs, `{ client = [0], server = [1] }`. Default: `free`.
    #[schemars(with = "Option<PlacementValue>")]
    pub(crate) placement: Option<Spanned<PlacementValue>>,
    /// The paths that it runs on; the baseline must be among them. Default: all.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) paths: Vec<Spanned<String>>,
    /// Of workloads with one end: the hosts that they run at; the others are shown as a share of the first.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) hosts: Vec<Spanned<String>>,
}

impl WorkloadTable {
    /// The keys that not every kind of workload has, as far as they are written.
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
            ("move", place(&self.way)),
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

/// A TCP stream beside a ping-pong.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnderTable {
    /// `app` or `limit`. Default: `app`.
    pub(crate) mode: Option<Mode>,
    /// Parallel connections in each direction, 1 to 1024. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub(crate) streams: Option<Spanned<u32>>,
    /// `forward` (as the ping-pong's messages go out), `reverse` or `both`. Default: `forward`.
    pub(crate) direction: Option<Direction>,
    /// The rate of each connection. Default: as fast as it goes.
    #[schemars(with = "Option<As<BitRate>>")]
    pub(crate) rate: Option<Spanned<As<BitRate>>>,
    /// The size of each write and read. Default: 128KiB, 1MiB in mode `limit`.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) message: Option<Spanned<As<Bytes>>>,
}

/// When the next message of a ping-pong is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loop {
    /// When the last one has come back.
    Closed,
    /// Each at its time.
    Open,
}

/// Where the two ends run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PlacementValue {
    /// Where the scheduler puts them.
    Free,
    /// Both on one CPU.
    SameCpu,
    /// Each on a CPU of its own.
    CrossCpu,
    /// On CPUs by number.
    Cpus(CpusTable),
}

/// CPUs by number: thread n of an end on the one number n of its list, from the start again after the last.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CpusTable {
    /// The client's.
    pub(crate) client: Vec<u32>,
    /// The server's.
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
        f.write_str("a placement, as in \"cross-cpu\" or { client = [0], server = [1] }")
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

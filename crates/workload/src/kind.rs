//! The kinds of workloads: one enum for what is asked, one for what an end measured, one for what was measured, and what
//! every kind tells of itself. Must not know what is particular to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use crate::{
    balloon::{self, BalloonData, BalloonSettings},
    column::Column,
    connect::{self, ConnectData, ConnectEnd, ConnectSettings},
    first_touch::{self, FirstTouchData, FirstTouchSettings},
    metric::Metric,
    ping_pong::{self, PingPongData, PingPongEnd, PingPongSettings},
    reported::ReportedData,
    socket::{SocketFacts, SocketSettings},
    stream::{self, FlowEnd, StreamData, StreamEnd, StreamSettings},
    work::Work,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// Bulk transfer over TCP or UDP: throughput.
    Stream,
    /// Messages there and back: round-trip latency.
    PingPong,
    /// TCP connections made, used for one request and its answer, and closed: their rate.
    Connect,
    /// Memory touched for the first time: its rate. It has one end, at a host.
    FirstTouch,
    /// Memory taken from a virtual machine, or given back: its rate. It has one end, the machine.
    Balloon,
}

impl WorkloadKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Stream, Self::PingPong, Self::Connect, Self::FirstTouch, Self::Balloon];

    /// As scenarios and records write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::PingPong => "ping-pong",
            Self::Connect => "connect",
            Self::FirstTouch => "first-touch",
            Self::Balloon => "balloon",
        }
    }
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSettings {
    /// As many bytes as the path, or a rate, allows: throughput.
    Stream(StreamSettings),
    /// Messages there and back: round-trip latency.
    PingPong(PingPongSettings),
    /// Connections made, used once and closed: their rate.
    Connect(ConnectSettings),
    /// Memory touched for the first time: its rate.
    FirstTouch(FirstTouchSettings),
    /// Memory taken from a virtual machine, or given back: its rate.
    Balloon(BalloonSettings),
}

impl WorkloadSettings {
    /// What its kind tells of it.
    #[must_use]
    pub const fn kind(&self) -> &dyn KindSettings {
        match self {
            Self::Stream(settings) => settings,
            Self::PingPong(settings) => settings,
            Self::Connect(settings) => settings,
            Self::FirstTouch(settings) => settings,
            Self::Balloon(settings) => settings,
        }
    }

    /// The same, to be changed.
    pub const fn kind_mut(&mut self) -> &mut dyn KindSettings {
        match self {
            Self::Stream(settings) => settings,
            Self::PingPong(settings) => settings,
            Self::Connect(settings) => settings,
            Self::FirstTouch(settings) => settings,
            Self::Balloon(settings) => settings,
        }
    }
}

/// What the settings of each kind tell of themselves.
pub trait KindSettings {
    /// What it is judged by, under whichever schedule.
    fn metric(&self) -> Metric;
    /// What its sockets speak; `None` where it has none.
    fn transport(&self) -> Option<Transport> {
        None
    }
    /// What is set on its sockets.
    fn socket(&self) -> Option<&SocketSettings> {
        None
    }
    /// The same, to be changed.
    fn socket_mut(&mut self) -> Option<&mut SocketSettings> {
        None
    }
    /// Whether it goes from one end of a path to the other. One that does not has one end, at a host.
    fn has_peer(&self) -> bool {
        self.transport().is_some()
    }
    /// For how long it is measured, the warm-up not counted; `None` where it ends after a number of bytes.
    fn lasts(&self) -> Option<Nanos>;
    /// How long its traffic flows, the warm-up included; `None` where it ends after a number of bytes.
    fn flows_for(&self) -> Option<Nanos> {
        self.lasts().map(|time| self.warmup() + time)
    }
    /// The bytes after which it ends, and how many a second were asked for at most.
    fn sends(&self) -> Option<(Bytes, Option<f64>)> {
        None
    }
    /// The payload that it was asked for at most in a second and direction; `None` where it goes as fast as it may.
    fn sends_at_most(&self) -> Option<BitRate>;
    /// What is left out at its start.
    fn warmup(&self) -> Nanos;
    /// How often a sample is taken.
    fn interval(&self) -> Nanos;
    /// How many traffic threads an end has.
    fn threads(&self) -> usize;
    /// Whether both ends ask again and again without sleeping, so that they cannot share a CPU.
    fn spins(&self) -> bool {
        false
    }
    /// Whether its connections can have ports that are chosen beforehand.
    fn has_fixed_ports(&self) -> bool {
        true
    }
    /// Whether packets of this size follow each other so that they could be put together.
    fn fills_packets_of(&self, bytes: u64) -> bool {
        let _ = bytes;
        false
    }
    /// The payload of each of its datagrams, where it sends any.
    fn datagram(&self) -> Option<Bytes> {
        None
    }
    /// What it sends, in a few words; its sockets and places are told by others.
    fn in_words(&self) -> Vec<String>;
    /// How fast it goes, while it does: of bytes received and things done (messages, connections) in a time.
    fn live(&self, received: Bytes, done: u64, time: Nanos) -> Option<LiveRate>;
}

/// How fast a trial goes while it does.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveRate {
    /// Bits, bytes or things done in a second: comparable within a trial.
    pub per_second: f64,
    /// In words: `9.41 Gbit/s`.
    pub text: String,
}

impl LiveRate {
    /// Of what is counted; `None` while nothing is done.
    pub(crate) fn of_things(done: u64, time: Nanos, things: &str) -> Option<Self> {
        let per_second = (done > 0).then(|| done as f64 / time.seconds())?;
        Some(Self { per_second, text: format!("{per_second:.0} {things}/s") })
    }
}

impl From<BitRate> for LiveRate {
    fn from(rate: BitRate) -> Self {
        Self { per_second: rate.0, text: rate.to_string() }
    }
}

/// The transport of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

/// What one end measured of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one a trial and end: a box would save nothing that counts")]
pub enum EndMeasurement {
    /// Of a stream: its end of every connection.
    Stream(StreamEnd),
    /// Of a ping-pong: the round trips, or the facts of the socket that returned them.
    PingPong(PingPongEnd),
    /// Of connections: their rate and times; nothing at the server.
    Connect(ConnectEnd),
    /// Of first touches of memory, which have no other end.
    FirstTouch(FirstTouchData),
    /// Of a balloon, which has no other end.
    Balloon(BalloonData),
}

impl EndMeasurement {
    /// What both ends' records make together.
    ///
    /// # Errors
    /// When they do not describe the same traffic.
    pub fn together(self, server: Self) -> Result<Measurement, String> {
        match self {
            Self::Stream(client) => match server {
                Self::Stream(server) => StreamData::of_ends(&client, &server).map(Measurement::Stream),
                other => Err(other.beside(WorkloadKind::Stream)),
            },
            Self::PingPong(client) => match server {
                Self::PingPong(server) => client.together(server).map(Measurement::PingPong),
                other => Err(other.beside(WorkloadKind::PingPong)),
            },
            Self::Connect(client) => match server {
                Self::Connect(_) => Ok(Measurement::Connect(client.alone())),
                other => Err(other.beside(WorkloadKind::Connect)),
            },
            Self::FirstTouch(_) | Self::Balloon(_) => Err(server.beside(self.kind())),
        }
    }

    /// What is known where the other end tells nothing, or there is none.
    #[must_use]
    pub fn alone(self) -> Measurement {
        match self {
            Self::Stream(client) => {
                Measurement::Stream(StreamData::as_far_as_told(&client, &StreamEnd::default()))
            }
            Self::PingPong(client) => Measurement::PingPong(client.alone()),
            Self::Connect(client) => Measurement::Connect(client.alone()),
            Self::FirstTouch(data) => Measurement::FirstTouch(data),
            Self::Balloon(data) => Measurement::Balloon(data),
        }
    }

    /// This end of the connections that carried bytes one way.
    #[must_use]
    pub fn flows(&self) -> &[FlowEnd] {
        match self {
            Self::Stream(end) => &end.flows,
            Self::PingPong(end) => &end.beside.flows,
            Self::Connect(_) | Self::FirstTouch(_) | Self::Balloon(_) => &[],
        }
    }

    #[must_use]
    pub const fn kind(&self) -> WorkloadKind {
        match self {
            Self::Stream(_) => WorkloadKind::Stream,
            Self::PingPong(_) => WorkloadKind::PingPong,
            Self::Connect(_) => WorkloadKind::Connect,
            Self::FirstTouch(_) => WorkloadKind::FirstTouch,
            Self::Balloon(_) => WorkloadKind::Balloon,
        }
    }

    fn beside(&self, client: WorkloadKind) -> String {
        format!("one end reports a {} and the other a {}", client.word(), self.kind().word())
    }
}

impl From<StreamEnd> for EndMeasurement {
    fn from(end: StreamEnd) -> Self {
        Self::Stream(end)
    }
}

impl From<PingPongEnd> for EndMeasurement {
    fn from(end: PingPongEnd) -> Self {
        Self::PingPong(end)
    }
}

impl From<ConnectEnd> for EndMeasurement {
    fn from(end: ConnectEnd) -> Self {
        Self::Connect(end)
    }
}

impl From<FirstTouchData> for EndMeasurement {
    fn from(data: FirstTouchData) -> Self {
        Self::FirstTouch(data)
    }
}

impl From<BalloonData> for EndMeasurement {
    fn from(data: BalloonData) -> Self {
        Self::Balloon(data)
    }
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
    /// Of connections: their rate and times.
    Connect(ConnectData),
    /// Of first touches of memory: their rate and page faults.
    FirstTouch(FirstTouchData),
    /// Of a balloon: the rate, what the host got, and how the guest stalled.
    Balloon(BalloonData),
    /// Of another tool: what it reported, without samples.
    Reported(ReportedData),
}

impl Measurement {
    /// What its kind tells of it.
    #[must_use]
    pub const fn kind(&self) -> &dyn KindMeasurement {
        match self {
            Self::Stream(data) => data,
            Self::PingPong(data) => data,
            Self::Connect(data) => data,
            Self::FirstTouch(data) => data,
            Self::Balloon(data) => data,
            Self::Reported(data) => data,
        }
    }

    /// Its value in the metric's unit; `None` when nothing was measured or something else was.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let kind = self.kind();
        (kind.metric() == metric).then(|| kind.value())?.filter(|value| value.is_finite())
    }

    /// The heads of all columns that some kind has of a trial, each once.
    #[must_use]
    pub fn heads() -> Vec<String> {
        let of_kind = |kind| match kind {
            WorkloadKind::Stream => Column::heads(stream::COLUMNS),
            WorkloadKind::PingPong => Column::heads(ping_pong::COLUMNS),
            WorkloadKind::Connect => Column::heads(connect::COLUMNS),
            WorkloadKind::FirstTouch => Column::heads(first_touch::COLUMNS),
            WorkloadKind::Balloon => Column::heads(balloon::COLUMNS),
        };
        let mut heads: Vec<String> = Vec::new();
        for head in WorkloadKind::ALL.into_iter().flat_map(of_kind) {
            if !heads.contains(&head) {
                heads.push(head);
            }
        }
        heads
    }
}

/// What the measurement of each kind tells of itself.
pub trait KindMeasurement {
    /// What it is judged by.
    fn metric(&self) -> Metric;
    /// Its value in the metric's unit; `None` when nothing was measured.
    fn value(&self) -> Option<f64>;
    /// What it carried from its first message to its last, the warm-up included; `None` where nothing, or two kinds of
    /// things.
    fn work(&self) -> Option<(Work, f64)>;
    /// Payload that both ends sent with these settings, the warm-up included; of what stays in its machine nothing.
    fn sent(&self, settings: &WorkloadSettings) -> Bytes {
        let _ = settings;
        Bytes(0)
    }
    /// For how long it was measured, at the end where that is furthest from what was asked; `None` where no end tells.
    fn lasted(&self, asked: Nanos) -> Option<Nanos>;
    /// Whether nothing came through.
    fn is_void(&self) -> bool;
    /// Why it has no value.
    fn why_no_value(&self) -> &'static str;
    /// What it came to, in a word.
    fn in_a_word(&self) -> String;
    /// What the kernel gave the sockets of each end.
    fn sockets(&self) -> Vec<(&'static str, &SocketFacts)> {
        Vec::new()
    }
    /// What it says of a trial in the column with this head; `None` where it has no such column, or nothing is known.
    fn column(&self, head: &str) -> Option<String> {
        let _ = head;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        connect::ConnectInterval,
        ping_pong::PingPongInterval,
        stream::{Direction, EndSeries, Flow, Interval},
    };

    fn end(bytes: &[u64]) -> EndSeries {
        let interval = |(at, bytes): (usize, &u64)| Interval {
            start: Nanos::from_secs(at as u64),
            end: Nanos::from_secs(at as u64 + 1),
            bytes: Bytes(*bytes),
            warmup: at == 0,
            tcp: None,
            datagrams: None,
        };
        EndSeries { intervals: bytes.iter().enumerate().map(interval).collect(), ..EndSeries::default() }
    }

    #[test]
    fn what_both_ends_sent_is_counted_with_the_warm_up() {
        let second = Nanos::from_secs(1);
        let flow = |sender, receiver| Flow { id: 0, direction: Direction::Forward, sender, receiver };
        let stream =
            StreamData { flows: vec![flow(end(&[10, 20]), end(&[9, 20])), flow(end(&[]), end(&[5]))] };
        let settings = PingPongSettings { message: Bytes(100), ..PingPongSettings::new(second) };
        let settings = WorkloadSettings::PingPong(settings);
        assert_eq!(stream.sent(&settings), Bytes(35), "of a sender that tells nothing, what came");

        let mut interval = PingPongInterval { warmup: true, ..PingPongInterval::default() };
        (0..3).for_each(|_| interval.round_trips.record(Nanos(1000)));
        let ping = PingPongData {
            intervals: vec![interval],
            lost: Some(2),
            under: Some(stream),
            ..PingPongData::default()
        };
        assert_eq!(ping.sent(&settings), Bytes(100 * (2 * 3 + 2) + 35), "a lost message went one way");

        let settings =
            ConnectSettings { request: Bytes(10), response: Bytes(90), ..ConnectSettings::new(second) };
        let done = |done| ConnectInterval { done, ..ConnectInterval::default() };
        let connect = ConnectData { intervals: vec![done(3), done(4)], ..ConnectData::default() };
        assert_eq!(connect.sent(&WorkloadSettings::Connect(settings)), Bytes(700));
    }

    #[test]
    fn every_kind_is_in_the_list_and_has_the_word_that_scenarios_write() {
        let schema = schemars::schema_for!(WorkloadKind).to_value();
        let written = schema["oneOf"].as_array().expect("one of words, each described").iter();
        let written: Vec<_> = written.map(|kind| kind["const"].as_str().expect("a word")).collect();
        assert_eq!(written, WorkloadKind::ALL.map(WorkloadKind::word));
    }
}

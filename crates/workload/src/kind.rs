//! The kinds of workload, and the traits they implement.

pub(crate) mod balloon;
pub(crate) mod connect;
pub(crate) mod first_touch;
pub(crate) mod ping_pong;
pub(crate) mod reported;
pub(crate) mod stream;

use derive_more::From;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos};

use self::{
    balloon::{BalloonData, BalloonSettings},
    connect::{ConnectData, ConnectEnd, ConnectSettings},
    first_touch::{FirstTouchData, FirstTouchSettings},
    ping_pong::{PingPongData, PingPongEnd, PingPongSettings},
    reported::ReportedData,
    stream::{FlowEnd, StreamData, StreamEnd, StreamSettings},
};
use crate::{
    column::Column,
    guarded::{GuardedMetric, GuardedSample},
    metric::Metric,
    socket::{SocketFacts, SocketSettings},
    work::Work,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// Bulk transfer over TCP or UDP, to measure throughput.
    Stream,
    /// Messages and their replies, to measure round-trip latency.
    PingPong,
    /// Short-lived TCP connections with one request and one response each, to measure the connection rate.
    Connect,
    /// Memory touched for the first time on a single host, to measure the rate.
    FirstTouch,
    /// Memory reclaimed from a virtual machine or given back to it, to measure the rate.
    Balloon,
}

impl WorkloadKind {
    pub const ALL: [Self; 5] = [Self::Stream, Self::PingPong, Self::Connect, Self::FirstTouch, Self::Balloon];

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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WorkloadSettings {
    Stream(StreamSettings),
    PingPong(PingPongSettings),
    Connect(ConnectSettings),
    FirstTouch(FirstTouchSettings),
    Balloon(BalloonSettings),
}

impl WorkloadSettings {
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

pub trait KindSettings {
    fn metric(&self) -> Metric;
    fn transport(&self) -> Option<Transport> {
        None
    }
    fn socket(&self) -> Option<&SocketSettings> {
        None
    }
    fn socket_mut(&mut self) -> Option<&mut SocketSettings> {
        None
    }
    fn has_peer(&self) -> bool {
        self.transport().is_some()
    }
    /// The measured time, or `None` if the workload ends after a number of bytes.
    fn lasts(&self) -> Option<Nanos>;
    fn flows_for(&self) -> Option<Nanos> {
        self.lasts().map(|time| self.warmup() + time)
    }
    fn sends(&self) -> Option<(Bytes, Option<f64>)> {
        None
    }
    /// Payload rate limit per direction, or `None` if unlimited.
    fn sends_at_most(&self) -> Option<BitRate>;
    fn warmup(&self) -> Nanos;
    fn interval(&self) -> Nanos;
    fn threads(&self) -> usize;
    /// Whether both ends poll without sleeping, so that they cannot share a CPU.
    fn spins(&self) -> bool {
        false
    }
    fn has_fixed_ports(&self) -> bool {
        true
    }
    fn fills_packets_of(&self, bytes: u64) -> bool {
        let _ = bytes;
        false
    }
    /// The payload of a datagram, or `None` if the workload sends none.
    fn datagram(&self) -> Option<Bytes> {
        None
    }
    /// Whether the workload needs IP packets larger than `packet`. `headers` is the size of the IP and UDP headers.
    fn exceeds(&self, packet: u64, headers: u64) -> bool {
        let _ = headers;
        self.fills_packets_of(packet)
    }
    fn in_words(&self) -> Vec<String>;
    fn live(&self, received: Bytes, done: u64, time: Nanos) -> Option<LiveRate>;
}

#[derive(Debug, Clone, PartialEq)]
pub struct LiveRate {
    /// Bits, bytes or operations per second. Rates can be compared only within a trial.
    pub per_second: f64,
    pub text: String,
}

impl LiveRate {
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

/// The transport protocol of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    Tcp,
    Udp,
}

#[derive(Debug, Clone, From, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one per trial and end: boxing would save nothing")]
pub enum EndMeasurement {
    Stream(StreamEnd),
    PingPong(PingPongEnd),
    Connect(ConnectEnd),
    FirstTouch(FirstTouchData),
    Balloon(BalloonData),
}

impl EndMeasurement {
    /// Combines the records of both ends. Fails unless they describe the same traffic.
    pub fn together(self, server: Self) -> Result<Measurement, String> {
        match self {
            Self::Stream(client) => match server {
                Self::Stream(server) => StreamData::of_ends(&client, &server).map(Measurement::Stream),
                other => Err(other.mismatch(WorkloadKind::Stream)),
            },
            Self::PingPong(client) => match server {
                Self::PingPong(server) => client.together(server).map(Measurement::PingPong),
                other => Err(other.mismatch(WorkloadKind::PingPong)),
            },
            Self::Connect(client) => match server {
                Self::Connect(_) => Ok(Measurement::Connect(client.alone())),
                other => Err(other.mismatch(WorkloadKind::Connect)),
            },
            Self::FirstTouch(_) | Self::Balloon(_) => Err(server.mismatch(self.kind())),
        }
    }

    #[must_use]
    pub fn alone(self) -> Measurement {
        match self {
            Self::Stream(client) => {
                Measurement::Stream(StreamData::of_available_ends(&client, &StreamEnd::default()))
            }
            Self::PingPong(client) => Measurement::PingPong(client.alone()),
            Self::Connect(client) => Measurement::Connect(client.alone()),
            Self::FirstTouch(data) => Measurement::FirstTouch(data),
            Self::Balloon(data) => Measurement::Balloon(data),
        }
    }

    #[must_use]
    pub fn flows(&self) -> &[FlowEnd] {
        match self {
            Self::Stream(end) => &end.flows,
            Self::PingPong(end) => &end.background.flows,
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

    fn mismatch(&self, client: WorkloadKind) -> String {
        format!("one end reports a {} and the other a {}", client.word(), self.kind().word())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "one per trial: boxing would save nothing")]
pub enum Measurement {
    /// All connections, at both ends.
    Stream(StreamData),
    /// The round trips.
    PingPong(PingPongData),
    /// Connection rate and times.
    Connect(ConnectData),
    /// Rate and page faults.
    FirstTouch(FirstTouchData),
    /// Rate, memory freed on the host, and stalls of the guest.
    Balloon(BalloonData),
    /// Values reported by another tool, without samples.
    Reported(ReportedData),
}

impl Measurement {
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

    /// Returns the value, or `None` if it is missing or belongs to another metric.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        let kind = self.kind();
        (kind.metric() == metric).then(|| kind.value())?.filter(|value| value.is_finite())
    }

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

pub trait KindMeasurement {
    fn metric(&self) -> Metric;
    fn value(&self) -> Option<f64>;
    /// The work done, including the warm-up. `None` if no work was done, or if the work has two different units.
    fn work(&self) -> Option<(Work, f64)>;
    /// The work after the warm-up, in 10^9 bytes or in messages. `None` for kinds without instruction counts.
    fn measured_work(&self) -> Option<f64> {
        None
    }
    /// Payload sent by both ends, including the warm-up. Zero for single-ended workloads.
    fn sent(&self, settings: &WorkloadSettings) -> Bytes {
        let _ = settings;
        Bytes(0)
    }
    /// Returns the measured duration that differs most from `asked`, or `None` if neither end measured one.
    fn lasted(&self, asked: Nanos) -> Option<Nanos>;
    fn is_void(&self) -> bool;
    fn why_no_value(&self) -> &'static str;
    fn in_a_word(&self) -> String;
    fn guarded(&self) -> Vec<(GuardedMetric, GuardedSample<'_>)> {
        Vec::new()
    }
    fn sockets(&self) -> Vec<(&'static str, &SocketFacts)> {
        Vec::new()
    }
    fn column(&self, head: &str) -> Option<String> {
        let _ = head;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{
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
    fn small_datagrams_need_no_large_packets() {
        let stream = |transport, message| StreamSettings {
            transport,
            message: Bytes(message),
            ..StreamSettings::new(crate::Until::Elapsed(Nanos::from_secs(1)))
        };
        for (transport, message, exceeds) in
            [(Transport::Udp, 1372, false), (Transport::Udp, 1373, true), (Transport::Tcp, 64, true)]
        {
            assert_eq!(stream(transport, message).exceeds(1400, 28), exceeds, "{transport:?} {message}");
        }
    }

    #[test]
    fn counts_payload_of_both_ends_with_warmup() {
        let second = Nanos::from_secs(1);
        let flow = |sender, receiver| Flow { id: 0, direction: Direction::Forward, sender, receiver };
        let stream =
            StreamData { flows: vec![flow(end(&[10, 20]), end(&[9, 20])), flow(end(&[]), end(&[5]))] };
        let settings = PingPongSettings { message: Bytes(100), ..PingPongSettings::new(second) };
        let settings = WorkloadSettings::PingPong(settings);
        assert_eq!(stream.sent(&settings), Bytes(35), "without a sender's record, uses what was received");

        let mut interval = PingPongInterval { warmup: true, ..PingPongInterval::default() };
        (0..3).for_each(|_| interval.round_trips.record(Nanos(1000)));
        let ping = PingPongData {
            intervals: vec![interval],
            lost: Some(2),
            under: Some(stream),
            ..PingPongData::default()
        };
        assert_eq!(ping.sent(&settings), Bytes(100 * (2 * 3 + 2) + 35), "a lost message counts once");

        let settings =
            ConnectSettings { request: Bytes(10), response: Bytes(90), ..ConnectSettings::new(second) };
        let done = |done| ConnectInterval { done, ..ConnectInterval::default() };
        let connect = ConnectData { intervals: vec![done(3), done(4)], ..ConnectData::default() };
        assert_eq!(connect.sent(&WorkloadSettings::Connect(settings)), Bytes(700));
    }

    #[test]
    fn lists_each_kind_with_its_word() {
        let schema = schemars::schema_for!(WorkloadKind).to_value();
        let written = schema["oneOf"].as_array().expect("a list of described words").iter();
        let written: Vec<_> = written.map(|kind| kind["const"].as_str().expect("a word")).collect();
        assert_eq!(written, WorkloadKind::ALL.map(WorkloadKind::word));
    }
}

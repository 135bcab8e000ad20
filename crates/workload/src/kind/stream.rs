//! Bulk transfer over TCP or UDP.

mod measurement;
mod settings;

pub use measurement::{DatagramSample, EndSeries, Flow, FlowEnd, Interval, StreamData, StreamEnd, TcpSample};
pub use settings::{Direction, Mode, StreamSettings, Until};

use units::{BitRate, Bytes, Nanos};

use crate::{
    column::Column,
    guarded::{GuardedMetric, GuardedSample},
    kind::{KindMeasurement, KindSettings, LiveRate, Measurement, Transport, WorkloadSettings},
    metric::Metric,
    socket::{SocketFacts, SocketSettings},
    work::Work,
};

/// Payload of a TCP segment on Ethernet with an MTU of 1500 bytes and timestamps.
const USUAL_MSS: u32 = 1448;

impl StreamSettings {
    #[must_use]
    pub const fn of(settings: &WorkloadSettings) -> Option<&Self> {
        if let WorkloadSettings::Stream(stream) = settings { Some(stream) } else { None }
    }

    pub const fn of_mut(settings: &mut WorkloadSettings) -> Option<&mut Self> {
        if let WorkloadSettings::Stream(stream) = settings { Some(stream) } else { None }
    }

    #[must_use]
    pub fn connections(&self) -> u32 {
        self.streams * self.direction.flows().len() as u32
    }
}

impl KindSettings for StreamSettings {
    fn metric(&self) -> Metric {
        Metric::Throughput
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn socket(&self) -> Option<&SocketSettings> {
        Some(&self.socket)
    }

    fn socket_mut(&mut self) -> Option<&mut SocketSettings> {
        Some(&mut self.socket)
    }

    fn lasts(&self) -> Option<Nanos> {
        match self.until {
            Until::Elapsed(time) => Some(time),
            Until::Sent(_) => None,
        }
    }

    fn sends(&self) -> Option<(Bytes, Option<f64>)> {
        match self.until {
            Until::Elapsed(_) => None,
            Until::Sent(bytes) => Some((bytes, self.rate.map(|rate| rate.0 / 8.0 * f64::from(self.streams)))),
        }
    }

    fn sends_at_most(&self) -> Option<BitRate> {
        self.rate.map(|rate| BitRate(rate.0 * f64::from(self.streams)))
    }

    fn warmup(&self) -> Nanos {
        self.warmup
    }

    fn interval(&self) -> Nanos {
        self.interval
    }

    fn threads(&self) -> usize {
        self.connections() as usize
    }

    fn fills_packets_of(&self, _: u64) -> bool {
        true
    }

    fn datagram(&self) -> Option<Bytes> {
        (self.transport == Transport::Udp).then_some(self.message)
    }

    fn exceeds(&self, packet: u64, headers: u64) -> bool {
        self.transport == Transport::Tcp || self.message.0 + headers > packet
    }

    fn in_words(&self) -> Vec<String> {
        let (name, unit) = match self.transport {
            Transport::Tcp => ("TCP", "writes"),
            Transport::Udp => ("UDP", "datagrams"),
        };
        let mut words = vec![
            streams_in_words(self.streams, name, self.direction),
            mode_in_words(self.transport, self.mode).to_owned(),
        ];
        if let Until::Sent(bytes) = self.until {
            let both = if self.direction == Direction::Both { " each way" } else { "" };
            words.push(format!("{bytes}{both}"));
        }
        words.push(format!("{} {unit}", self.message));
        words.extend(self.rate.map(|rate| format!("{rate}{}", each(self.streams, self.direction))));
        words
    }

    fn live(&self, received: Bytes, _: u64, time: Nanos) -> Option<LiveRate> {
        (received > Bytes(0)).then(|| BitRate::of(received, time)).map(LiveRate::from)
    }
}

/// For example, `4 TCP streams each way`.
pub(crate) fn streams_in_words(count: u32, name: &str, direction: Direction) -> String {
    let streams = if count == 1 { "stream" } else { "streams" };
    let direction = match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "in reverse",
        Direction::Both => "each way",
    };
    format!("{count} {name} {streams} {direction}")
}

/// For example, `limit mode (no copy)`.
pub(crate) const fn mode_in_words(transport: Transport, mode: Mode) -> &'static str {
    match (transport, mode) {
        (_, Mode::App) => "app mode",
        (Transport::Tcp, Mode::Limit) => "limit mode (no copy)",
        (Transport::Udp, Mode::Limit) => "limit mode (many datagrams a call)",
    }
}

pub(crate) fn each(streams: u32, direction: Direction) -> &'static str {
    if streams == 1 && direction != Direction::Both { "" } else { " each" }
}

pub(crate) const COLUMNS: &[Column<StreamData>] = &[
    Column::new("flows", "", |data| Some(data.flows.len().to_string())),
    Column::new("sent", "bytes", |data| data.total_if_measured(|flow| &flow.sender, EndSeries::bytes)),
    Column::new("received", "bytes", |data| data.total_if_measured(|flow| &flow.receiver, EndSeries::bytes)),
    Column::new("measured", "ns", |data| {
        let time = EndSeries::time_together(data.judged());
        (time.0 > 0).then(|| time.0.to_string())
    }),
    Column::new("retransmits", "", |data| {
        let senders = || data.flows.iter().map(|flow| &flow.sender);
        let known = senders().any(|sender| sender.measured().any(|interval| interval.tcp.is_some()));
        known.then(|| senders().map(EndSeries::retransmits).sum::<u64>().to_string())
    }),
    Column::new("reorderings", "", |data| {
        let samples = data.flows.iter().flat_map(|flow| flow.sender.measured());
        let whole = samples.filter_map(|interval| interval.tcp).filter(TcpSample::is_whole);
        whole.map(|tcp| u64::from(tcp.reorderings)).reduce(|a, b| a + b).map(|sum| sum.to_string())
    }),
    Column::new("datagrams_received", "", |data| data.datagrams(|sample| sample.count as i64)),
    Column::new("datagrams_lost", "", |data| data.datagrams(|sample| sample.lost)),
];

impl StreamData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::Stream(data) = measurement { Some(data) } else { None }
    }

    /// The ends used for the result: the receivers, or the senders if no receiver recorded a time.
    fn judged(&self) -> impl Iterator<Item = &EndSeries> + Clone {
        let received = self.flows.iter().any(|flow| flow.receiver.elapsed().0 > 0);
        self.flows.iter().map(move |flow| if received { &flow.receiver } else { &flow.sender })
    }

    fn datagram_loss(&self) -> Option<GuardedSample<'_>> {
        let received = self.flows.iter().filter_map(|flow| flow.receiver.datagrams());
        let all = received.reduce(|one, other| one.and(&other))?;
        let lost = all.lost.max(0).cast_unsigned();
        GuardedSample::fraction(lost, lost.saturating_add(all.count))
    }

    /// Assumes the minimum number of segments for the payload, because other tools do not report segments.
    fn retransmit_rate(&self) -> Option<GuardedSample<'_>> {
        let senders = || self.flows.iter().map(|flow| &flow.sender);
        let samples = || senders().flat_map(EndSeries::measured).filter_map(|interval| interval.tcp);
        let _ = samples().next()?;
        let least = |end: &EndSeries| end.bytes().0 / u64::from(end.socket.mss.unwrap_or(USUAL_MSS).max(1));
        let sent: u64 = samples().map(|tcp| u64::from(tcp.segments)).sum();
        let retransmits = senders().map(EndSeries::retransmits).sum();
        GuardedSample::fraction(retransmits, sent.max(senders().map(least).sum()).max(retransmits))
    }

    fn outage(&self) -> Option<GuardedSample<'_>> {
        let intervals = || self.judged().flat_map(EndSeries::measured);
        let silent = intervals().filter(|interval| interval.bytes == Bytes(0)).count();
        GuardedSample::fraction(silent as u64, intervals().count() as u64)
    }

    fn total_if_measured(&self, end: fn(&Flow) -> &EndSeries, of: fn(&EndSeries) -> Bytes) -> Option<String> {
        let ends = || self.flows.iter().map(end);
        let known = ends().any(|series| series.elapsed().0 > 0);
        known.then(|| ends().map(of).sum::<Bytes>().0.to_string())
    }

    fn datagrams(&self, of: fn(DatagramSample) -> i64) -> Option<String> {
        let received = self.flows.iter().filter_map(|flow| flow.receiver.datagrams());
        received.map(of).reduce(|a, b| a + b).map(|sum| sum.to_string())
    }
}

impl KindMeasurement for StreamData {
    fn metric(&self) -> Metric {
        Metric::Throughput
    }

    /// Falls back to the sender's rate if the receiver recorded none.
    fn value(&self) -> Option<f64> {
        let known = self.judged().any(|series| series.elapsed().0 > 0);
        known.then(|| EndSeries::rate_together(self.judged()).0)
    }

    fn work(&self) -> Option<(Work, f64)> {
        let intervals = self.flows.iter().flat_map(|flow| &flow.receiver.intervals);
        let bytes: f64 = intervals.map(|interval| interval.bytes.0 as f64).sum();
        (bytes > 0.0).then_some((Work::Bytes, bytes))
    }

    fn measured_work(&self) -> Option<f64> {
        Some(self.flows.iter().map(|flow| flow.sender.bytes()).sum::<Bytes>().0 as f64 / 1e9)
    }

    /// Falls back to the received bytes if the sender recorded none.
    fn sent(&self, _: &WorkloadSettings) -> Bytes {
        let all = |end: &EndSeries| end.intervals.iter().map(|interval| interval.bytes).sum::<Bytes>();
        self.flows.iter().map(|flow| all(&flow.sender).max(all(&flow.receiver))).sum()
    }

    fn lasted(&self, asked: Nanos) -> Option<Nanos> {
        let ends = self.flows.iter().flat_map(|flow| [&flow.sender, &flow.receiver]);
        let known = ends.filter(|end| !end.intervals.is_empty()).map(EndSeries::elapsed);
        known.max_by_key(|measured| measured.0.abs_diff(asked.0))
    }

    fn is_void(&self) -> bool {
        self.flows.iter().any(|flow| flow.receiver.bytes() == Bytes(0))
    }

    fn why_no_value(&self) -> &'static str {
        if self.flows.is_empty() { "no connection was established" } else { "neither end recorded a rate" }
    }

    fn in_a_word(&self) -> String {
        EndSeries::rate_together(self.flows.iter().map(|flow| &flow.receiver)).to_string()
    }

    fn guarded(&self) -> Vec<(GuardedMetric, GuardedSample<'_>)> {
        [
            (GuardedMetric::PacketLoss, self.datagram_loss()),
            (GuardedMetric::RetransmitRate, self.retransmit_rate()),
            (GuardedMetric::Outage, self.outage()),
        ]
        .into_iter()
        .filter_map(|(metric, sample)| Some((metric, sample?)))
        .collect()
    }

    fn sockets(&self) -> Vec<(&'static str, &SocketFacts)> {
        let senders = self.flows.iter().map(|flow| ("sender", &flow.sender.socket));
        senders.chain(self.flows.iter().map(|flow| ("receiver", &flow.receiver.socket))).collect()
    }

    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }
}

//! Ping-pong: messages and their replies.

mod measurement;
mod settings;

pub use measurement::{MessagesEnd, OpenLoopData, PingPongData, PingPongEnd, PingPongInterval};
pub use settings::{Background, PingPongSettings, Schedule, Waiting};

use units::{BitRate, Bytes, Nanos};

use crate::{
    column::Column,
    guarded::{GuardedMetric, GuardedSample},
    histogram::LatencyHistogram,
    kind::stream::{each, mode_in_words, streams_in_words},
    kind::{KindMeasurement, KindSettings, LiveRate, Measurement, Transport, WorkloadSettings},
    metric::Metric,
    socket::{SocketFacts, SocketSettings},
    work::Work,
};

impl PingPongSettings {
    #[must_use]
    pub const fn of(settings: &WorkloadSettings) -> Option<&Self> {
        if let WorkloadSettings::PingPong(ping) = settings { Some(ping) } else { None }
    }

    pub const fn of_mut(settings: &mut WorkloadSettings) -> Option<&mut Self> {
        if let WorkloadSettings::PingPong(ping) = settings { Some(ping) } else { None }
    }

    /// Whether only one message is in flight at a time, and any background stream uses another protocol.
    #[must_use]
    pub fn is_one_at_a_time(&self) -> bool {
        self.schedule == Schedule::Closed && (self.under.is_none() || self.transport == Transport::Udp)
    }
}

impl KindSettings for PingPongSettings {
    fn metric(&self) -> Metric {
        Metric::RoundTrip
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
        Some(self.duration)
    }

    fn sends_at_most(&self) -> Option<BitRate> {
        let Schedule::Open { period } = self.schedule else { return None };
        let background = match &self.under {
            None => 0.0,
            Some(under) => under.rate?.0 * f64::from(under.streams),
        };
        Some(BitRate(BitRate::of(self.message, period).0 + background))
    }

    fn warmup(&self) -> Nanos {
        self.warmup
    }

    fn interval(&self) -> Nanos {
        self.interval
    }

    fn threads(&self) -> usize {
        let background = |under: &Background| under.streams as usize * under.direction.flows().len();
        1 + self.under.as_ref().map_or(0, background)
    }

    fn spins(&self) -> bool {
        self.waiting == Waiting::Spin
    }

    fn fills_packets_of(&self, bytes: u64) -> bool {
        self.under.is_some() || (self.transport == Transport::Tcp && self.message.0 > bytes)
    }

    fn datagram(&self) -> Option<Bytes> {
        (self.transport == Transport::Udp).then_some(self.message)
    }

    fn exceeds(&self, packet: u64, headers: u64) -> bool {
        self.fills_packets_of(packet) || self.message.0 + headers > packet
    }

    fn in_words(&self) -> Vec<String> {
        let name = match self.transport {
            Transport::Udp => "UDP ping-pong",
            Transport::Tcp => "TCP ping-pong",
        };
        let schedule = match self.schedule {
            Schedule::Closed => "closed loop".into(),
            Schedule::Open { period } => format!("open loop, one every {period}"),
        };
        let waiting = match self.waiting {
            Waiting::Block => "blocking",
            Waiting::Spin => "spinning",
        };
        let mut words = vec![name.into(), self.message.to_string(), schedule, waiting.into()];
        words.extend(self.under.as_ref().map(background_in_words));
        words
    }

    fn live(&self, received: Bytes, done: u64, time: Nanos) -> Option<LiveRate> {
        let background = (received > Bytes(0)).then(|| BitRate::of(received, time)).map(LiveRate::from);
        let own = LiveRate::of_things(done, time, "round trips").map(|rate| match self.schedule {
            Schedule::Closed => LiveRate { text: format!("{} per round trip", Nanos(time.0 / done)), ..rate },
            Schedule::Open { .. } => rate,
        });
        own.or(background)
    }
}

fn background_in_words(under: &Background) -> String {
    let Background { mode, streams, direction, rate, message } = under;
    let rate = rate
        .map_or_else(|| "at full speed".into(), |rate| format!("of {rate}{}", each(*streams, *direction)));
    let (streams, mode) =
        (streams_in_words(*streams, "TCP", *direction), mode_in_words(Transport::Tcp, *mode));
    format!("during {streams} {rate} ({mode}, {message} writes)")
}

pub(crate) const COLUMNS: &[Column<PingPongData>] = &[
    Column::new("measured", "ns", |data| (data.elapsed.0 > 0).then(|| data.elapsed.0.to_string())),
    Column::new("round_trips", "", |data| Some(data.round_trips.count().to_string())),
    Column::new("round_trip_p50", "ns", |data| at(&data.round_trips, 0.5)),
    Column::new("round_trip_p99", "ns", |data| at(&data.round_trips, 0.99)),
    Column::new("lost", "", |data| data.lost.map(|lost| lost.to_string())),
    Column::new("since_intended_p50", "ns", |data| at(&data.open_loop.as_ref()?.since_intended, 0.5)),
    Column::new("since_intended_p99", "ns", |data| at(&data.open_loop.as_ref()?.since_intended, 0.99)),
];

fn at(times: &LatencyHistogram, share: f64) -> Option<String> {
    times.quantile(share).map(|time| time.0.to_string())
}

impl PingPongData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::PingPong(data) = measurement { Some(data) } else { None }
    }

    /// The histogram used for the result. In an open loop, its times start at the intended send times. Otherwise, a
    /// stall would count only once.
    #[must_use]
    pub fn judged(&self) -> &LatencyHistogram {
        self.open_loop.as_ref().map_or(&self.round_trips, |open| &open.since_intended)
    }

    fn messages(&self) -> u64 {
        let all: u64 = self.intervals.iter().map(|interval| interval.round_trips.count()).sum();
        all.max(self.round_trips.count())
    }
}

impl KindMeasurement for PingPongData {
    fn metric(&self) -> Metric {
        Metric::RoundTrip
    }

    fn measured_work(&self) -> Option<f64> {
        Some(self.round_trips.count() as f64)
    }

    fn value(&self) -> Option<f64> {
        self.judged().quantile(0.5).map(|time| time.0 as f64)
    }

    fn work(&self) -> Option<(Work, f64)> {
        let messages = self.messages();
        (self.under.is_none() && messages > 0).then_some((Work::Messages, messages as f64))
    }

    fn sent(&self, settings: &WorkloadSettings) -> Bytes {
        let size = PingPongSettings::of(settings).map_or(0, |settings| settings.message.0);
        let sent = self.messages().saturating_mul(2).saturating_add(self.lost.unwrap_or(0));
        let background = self.under.as_ref().map_or(Bytes(0), |under| under.sent(settings));
        Bytes(sent.saturating_mul(size)) + background
    }

    fn lasted(&self, _: Nanos) -> Option<Nanos> {
        Some(self.elapsed)
    }

    fn is_void(&self) -> bool {
        self.round_trips.count() == 0
    }

    fn why_no_value(&self) -> &'static str {
        "no message came back"
    }

    fn in_a_word(&self) -> String {
        match self.judged().quantile(0.5) {
            Some(median) => format!("{median} median round trip"),
            None => "no round trip".to_owned(),
        }
    }

    fn guarded(&self) -> Vec<(GuardedMetric, GuardedSample<'_>)> {
        let measured = || self.intervals.iter().filter(|interval| !interval.warmup);
        let silent = measured().filter(|interval| interval.round_trips.count() == 0).count();
        let lost = self
            .lost
            .and_then(|lost| GuardedSample::fraction(lost, lost.saturating_add(self.round_trips.count())));
        let outage = GuardedSample::fraction(silent as u64, measured().count() as u64);
        [
            (GuardedMetric::P99, (self.judged().count() > 0).then(|| GuardedSample::Times(self.judged()))),
            (GuardedMetric::PacketLoss, lost),
            (GuardedMetric::Outage, outage),
        ]
        .into_iter()
        .filter_map(|(metric, sample)| Some((metric, sample?)))
        .collect()
    }

    fn sockets(&self) -> Vec<(&'static str, &SocketFacts)> {
        vec![("client", &self.client), ("server", &self.server)]
    }

    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }
}

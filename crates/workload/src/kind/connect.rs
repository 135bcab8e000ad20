//! Short-lived connections, each with one request and one response.

mod measurement;
mod settings;

pub use measurement::{ConnectData, ConnectEnd, ConnectInterval};
pub use settings::ConnectSettings;

use units::{BitRate, Bytes, Nanos};

use crate::{
    column::Column,
    guarded::{GuardedMetric, GuardedSample},
    kind::{KindMeasurement, KindSettings, LiveRate, Measurement, Transport, WorkloadSettings},
    metric::Metric,
    socket::{SocketFacts, SocketSettings},
    work::Work,
};

impl KindSettings for ConnectSettings {
    fn metric(&self) -> Metric {
        Metric::ConnectionRate
    }

    fn transport(&self) -> Option<Transport> {
        Some(Transport::Tcp)
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
        None
    }

    fn warmup(&self) -> Nanos {
        self.warmup
    }

    fn interval(&self) -> Nanos {
        self.interval
    }

    fn threads(&self) -> usize {
        self.clients as usize
    }

    /// Each connection uses a new port.
    fn has_fixed_ports(&self) -> bool {
        false
    }

    fn fills_packets_of(&self, bytes: u64) -> bool {
        self.request.max(self.response).0 > bytes
    }

    fn in_words(&self) -> Vec<String> {
        let clients = if self.clients == 1 { "client" } else { "clients" };
        vec![
            format!("TCP connections of {} {clients}", self.clients),
            format!("{} there and {} back on each", self.request, self.response),
        ]
    }

    fn live(&self, _: Bytes, done: u64, time: Nanos) -> Option<LiveRate> {
        LiveRate::of_things(done, time, "connections")
    }
}

pub(crate) const COLUMNS: &[Column<ConnectData>] = &[
    Column::new("measured", "ns", |data| (data.elapsed.0 > 0).then(|| data.elapsed.0.to_string())),
    Column::new("connections", "", |data| Some(data.exchanges.count().to_string())),
    Column::new("connections_failed", "", |data| Some(data.failed.to_string())),
];

impl ConnectData {
    #[must_use]
    pub const fn of(measurement: &Measurement) -> Option<&Self> {
        if let Measurement::Connect(data) = measurement { Some(data) } else { None }
    }

    fn connections(&self) -> u64 {
        let all: u64 = self.intervals.iter().map(|interval| interval.done).sum();
        all.max(self.exchanges.count())
    }
}

impl KindMeasurement for ConnectData {
    fn metric(&self) -> Metric {
        Metric::ConnectionRate
    }

    fn value(&self) -> Option<f64> {
        self.rate()
    }

    fn work(&self) -> Option<(Work, f64)> {
        let connections = self.connections();
        (connections > 0).then_some((Work::Connections, connections as f64))
    }

    fn sent(&self, settings: &WorkloadSettings) -> Bytes {
        let WorkloadSettings::Connect(settings) = settings else { return Bytes(0) };
        Bytes(self.connections().saturating_mul((settings.request + settings.response).0))
    }

    fn lasted(&self, _: Nanos) -> Option<Nanos> {
        Some(self.elapsed)
    }

    fn is_void(&self) -> bool {
        self.exchanges.count() == 0
    }

    fn why_no_value(&self) -> &'static str {
        "no connection was completed"
    }

    fn in_a_word(&self) -> String {
        match self.rate() {
            Some(rate) => format!("{rate:.0} connections/s"),
            None => "no connection".to_owned(),
        }
    }

    fn guarded(&self) -> Vec<(GuardedMetric, GuardedSample<'_>)> {
        let measured = || self.intervals.iter().filter(|interval| !interval.warmup);
        let silent = measured().filter(|interval| interval.done == 0).count();
        let done = self.exchanges.count();
        let failed = GuardedSample::fraction(self.failed, self.failed.saturating_add(done));
        [
            (GuardedMetric::P99, (done > 0).then_some(GuardedSample::Times(&self.exchanges))),
            (GuardedMetric::ConnectionFailures, failed),
            (GuardedMetric::Outage, GuardedSample::fraction(silent as u64, measured().count() as u64)),
        ]
        .into_iter()
        .filter_map(|(metric, sample)| Some((metric, sample?)))
        .collect()
    }

    fn sockets(&self) -> Vec<(&'static str, &SocketFacts)> {
        vec![("client", &self.client)]
    }

    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }
}

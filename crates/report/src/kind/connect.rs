//! Reports connections.

mod intervals;

use findings::{ConnectSummary, Distribution, SingleConnect};
use workload::{Column, ConnectData, ConnectInterval, Metric};

pub(super) use intervals::tables as intervals;

use super::{Field, KindReport, ShownAlone, TimeSample, TimeSeries, stream::with_spread};
use crate::{
    backends::csv::at,
    phrases,
    sections::{connections, percentiles::TitledDistribution},
    text::Text,
};

pub(super) const COLUMNS: &[Column<ConnectSummary>] = &[
    Column::new("connect_p50", "ns", |connect| at(&connect.connects, 0.5)),
    Column::new("connect_p99", "ns", |connect| at(&connect.connects, 0.99)),
    Column::new("exchange_p50", "ns", |connect| at(&connect.exchanges, 0.5)),
    Column::new("exchange_p99", "ns", |connect| at(&connect.exchanges, 0.99)),
    Column::new("connections_failed", "", |connect| Some(connect.failed.to_string())),
];

pub(super) fn series(data: &ConnectData) -> TimeSeries {
    let sample = |interval: &ConnectInterval| {
        let [start, end] = [interval.start, interval.end].map(units::Nanos::seconds);
        let value = (end > start).then(|| interval.done as f64 / (end - start))?;
        Some(TimeSample { start, end, value, warmup: interval.warmup })
    };
    let samples = data.intervals.iter().filter_map(sample).collect();
    TimeSeries { what: "connections per second", metric: Metric::ConnectionRate, samples }
}

impl KindReport for ConnectSummary {
    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }

    fn further(&self) -> Vec<Field> {
        let tail = self.exchanges.at(0.99).map(|time| time.to_string());
        vec![("99 %", tail), ("Failed", Some(phrases::grouped(self.failed)))]
    }
}

impl ShownAlone for SingleConnect {
    fn lines(&self) -> Vec<(&'static str, Text)> {
        let ConnectSummary { connects, exchanges, failed } = &self.times;
        vec![
            ("Connections", with_spread(Metric::ConnectionRate, &self.rate)),
            ("Connect", phrases::middle_and_tail(connects).into()),
            ("Whole exchange", phrases::middle_and_tail(exchanges).into()),
            ("Made", exchanges.count.to_string().into()),
            ("Failed", failed.to_string().into()),
        ]
    }

    fn is_mean(&self) -> bool {
        true
    }

    fn shape(&self) -> Option<(Vec<TitledDistribution<'_>>, &Distribution)> {
        Some((connections::distributions("Time", &self.times).to_vec(), &self.times.exchanges))
    }
}

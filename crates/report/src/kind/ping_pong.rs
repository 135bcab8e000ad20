//! Reports ping-pongs.

mod intervals;

use findings::{Distribution, LatencySummary};
use units::significant;
use workload::{Column, LatencyHistogram, Metric, PingPongData, PingPongInterval};

pub(super) use intervals::tables as intervals;

use super::{Field, KindReport, ShownAlone, TimeSample, TimeSeries, odd};
use crate::{
    backends::csv::at,
    phrases,
    sections::{latency, percentiles::TitledDistribution},
    text::Text,
};

pub(super) const COLUMNS: &[Column<LatencySummary>] = &[
    Column::new("round_trip_min", "ns", |latency| Some(latency.round_trips.min.0.to_string())),
    Column::new("round_trip_p25", "ns", |latency| at(&latency.round_trips, 0.25)),
    Column::new("round_trip_p75", "ns", |latency| at(&latency.round_trips, 0.75)),
    Column::new("round_trip_p90", "ns", |latency| at(&latency.round_trips, 0.9)),
    Column::new("round_trip_p99", "ns", |latency| at(&latency.round_trips, 0.99)),
    Column::new("round_trip_p99.9", "ns", |latency| at(&latency.round_trips, 0.999)),
    Column::new("round_trip_max", "ns", |latency| Some(latency.round_trips.max.0.to_string())),
    Column::new("round_trip_mean", "ns", |latency| Some(latency.round_trips.mean.to_string())),
    Column::new("round_trips", "", |latency| Some(latency.round_trips.count.to_string())),
    Column::new("round_trips_lost", "", |latency| Some(latency.lost?.to_string())),
    Column::new("send_lateness_p50", "ns", |latency| at(&latency.open_loop.as_ref()?.lateness, 0.5)),
    Column::new("send_lateness_p99", "ns", |latency| at(&latency.open_loop.as_ref()?.lateness, 0.99)),
    Column::new("since_intended_p99", "ns", |latency| at(&latency.open_loop.as_ref()?.since_intended, 0.99)),
    Column::new("since_intended_p99.9", "ns", |latency| {
        at(&latency.open_loop.as_ref()?.since_intended, 0.999)
    }),
    Column::new("beside", "bits_per_second", |latency| Some(latency.under?.estimate.to_string())),
];

pub(super) fn series(data: &PingPongData) -> TimeSeries {
    let sample = |interval: &PingPongInterval| {
        let median = LatencyHistogram::quantile(&interval.round_trips, 0.5)?;
        let [start, end] = [interval.start, interval.end].map(units::Nanos::seconds);
        Some(TimeSample { start, end, value: median.0 as f64, warmup: interval.warmup })
    };
    let samples = data.intervals.iter().filter_map(sample).collect();
    TimeSeries { what: "median round trip", metric: Metric::RoundTrip, samples }
}

impl KindReport for LatencySummary {
    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }

    fn further(&self) -> Vec<Field> {
        let tail = self.judged().at(0.99).map(|time| time.to_string());
        vec![("99 %", tail), ("Lost", self.lost.map(|_| phrases::lost_messages(self)))]
    }

    fn ranked(&self) -> Vec<Field> {
        let times = self.judged();
        let in_time = |value| phrases::value(Metric::RoundTrip, value);
        vec![
            ("Mean", Some(in_time(times.mean))),
            ("Std dev", Some(in_time(times.deviation))),
            ("Messages/s", self.rate.map(|rate| significant(rate, 3))),
        ]
    }

    fn caption(&self) -> Option<&'static str> {
        self.open_loop
            .is_some()
            .then_some("open loop: round trips are measured from each message's intended send time")
    }
}

impl ShownAlone for LatencySummary {
    fn lines(&self) -> Vec<(&'static str, Text)> {
        let times = &self.round_trips;
        let mut lines = vec![("Round trip", Text::strong(phrases::middle_and_tail(times)))];
        if let Some(open) = &self.open_loop {
            let intended = Text::strong(phrases::middle_and_tail(&open.since_intended));
            lines = vec![("Round trip, since intended", intended)];
            lines.push(("Since sent", phrases::middle_and_tail(times).into()));
            lines.push(("Sender's lateness", phrases::middle_and_tail(&open.lateness).into()));
        }
        let rate = self.rate.map(|rate| format!(", {}/s", significant(rate, 3))).unwrap_or_default();
        lines.push(("Round trips", format!("{}{rate}", times.count).into()));
        lines.push(("Lost", phrases::lost_messages(self).into()));
        lines.extend(odd("Stray replies", self.strays));
        lines.extend(odd("Late or duplicate replies", self.duplicates));
        let under = self.under.as_ref().map(|rate| phrases::value(Metric::Throughput, rate.estimate));
        lines.extend(under.map(|rate| ("Background load", rate.into())));
        lines
    }

    fn is_mean(&self) -> bool {
        false
    }

    /// In an open loop, the first distribution is relative to the intended send times.
    fn shape(&self) -> Option<(Vec<TitledDistribution<'_>>, &Distribution)> {
        let mut all = latency::distributions("Round trip".to_owned(), self);
        if let Some((name, _)) = all.get_mut(2) {
            "Sender's lateness".clone_into(name);
        }
        Some((all, self.judged()))
    }
}

//! Reports streams.

mod intervals;

use findings::{DatagramSummary, ResultSummary, SingleRate, SingleStream, Spread, StreamSummary, TcpSummary};
use units::{Confidence, Share, significant};
use workload::{Column, Flow, Interval, Metric, StreamData};

pub(super) use intervals::tables as intervals;

use super::{Field, KindReport, ShownAlone, TimeSample, TimeSeries, odd};
use crate::{
    backends::csv::at,
    phrases,
    quantity::Scale,
    text::{Text, glued},
};

pub(super) const COLUMNS: &[Column<StreamSummary>] = &[
    Column::new("sent", "bits_per_second", |stream| Some(stream.sent?.estimate.to_string())),
    Column::new("received", "bits_per_second", |stream| Some(stream.received?.estimate.to_string())),
    Column::new("retransmits", "", |stream| Some(stream.tcp?.retransmits.to_string())),
    Column::new("cwnd_min", "bytes", |stream| Some(stream.tcp?.cwnd?.0.0.to_string())),
    Column::new("cwnd_max", "bytes", |stream| Some(stream.tcp?.cwnd?.1.0.to_string())),
    Column::new("rtt_under_load", "ns", |stream| Some(stream.tcp?.rtt?.0.to_string())),
    Column::new("reorderings", "", |stream| Some(stream.tcp?.reorderings?.to_string())),
    Column::new("out_of_order_segments", "", |stream| Some(stream.tcp?.out_of_order?.to_string())),
    Column::new("datagrams_per_second", "", |stream| Some(stream.datagrams?.rate.to_string())),
    Column::new("datagrams_lost", "", |stream| Some(stream.datagrams?.lost.to_string())),
    Column::new("datagrams_loss", "", |stream| Some(stream.datagrams?.loss.to_string())),
    Column::new("datagrams_reordered", "", |stream| Some(stream.datagrams?.reordered.to_string())),
    Column::new("datagrams_duplicate", "", |stream| Some(stream.datagrams?.duplicates.to_string())),
    Column::new("jitter", "ns", |stream| Some(stream.datagrams?.jitter.0.to_string())),
    Column::new("send_lateness_p50", "ns", |stream| at(stream.lateness.as_ref()?, 0.5)),
    Column::new("send_lateness_p99", "ns", |stream| at(stream.lateness.as_ref()?, 0.99)),
];

/// Uses the senders' intervals if the receivers reported none.
pub(super) fn series(data: &StreamData) -> TimeSeries {
    let all_reported = data.flows.iter().all(|flow| flow.receiver.intervals.len() > 1);
    let end = |flow: &'_ Flow| -> Vec<Interval> {
        if all_reported { flow.receiver.intervals.clone() } else { flow.sender.intervals.clone() }
    };
    let ends: Vec<Vec<Interval>> = data.flows.iter().map(end).collect();
    let longest = ends.iter().max_by_key(|intervals| intervals.len()).map(Vec::as_slice).unwrap_or_default();
    let together = |(place, interval): (usize, &Interval)| TimeSample {
        start: interval.start.seconds(),
        end: interval.end.seconds(),
        value: ends
            .iter()
            .filter_map(|intervals| intervals.get(place))
            .map(|interval| interval.rate().0)
            .sum(),
        warmup: interval.warmup,
    };
    let samples = longest
        .iter()
        .enumerate()
        .filter(|(_, interval)| interval.end > interval.start)
        .map(together)
        .collect();
    TimeSeries { what: "throughput", metric: Metric::Throughput, samples }
}

/// Returns the senders' smoothed round-trip time (TCP_INFO), averaged over the connections.
pub(super) fn round_trips(data: &StreamData) -> Option<TimeSeries> {
    let known = |interval: &Interval| interval.tcp.is_some_and(|tcp| tcp.rtt.0 > 0);
    let senders: Vec<&[Interval]> = data.flows.iter().map(|flow| flow.sender.intervals.as_slice()).collect();
    let longest = senders.iter().max_by_key(|intervals| intervals.len())?;
    let mean = |(place, interval): (usize, &Interval)| {
        let at_once = senders.iter().filter_map(|intervals| intervals.get(place)).filter(|it| known(it));
        let times: Vec<f64> = at_once.filter_map(|it| Some(it.tcp?.rtt.0 as f64)).collect();
        let [start, end] = [interval.start, interval.end].map(units::Nanos::seconds);
        let value = times.iter().sum::<f64>() / times.len() as f64;
        (!times.is_empty()).then_some(TimeSample { start, end, value, warmup: interval.warmup })
    };
    let samples = longest.iter().enumerate().filter_map(mean).collect();
    Some(TimeSeries { what: "round trip under load", metric: Metric::RoundTrip, samples })
}

pub(crate) fn is_of_sender(result: &ResultSummary) -> bool {
    StreamSummary::of(result).is_some_and(|stream| stream.sent.is_some() && stream.received.is_none())
}

impl KindReport for StreamSummary {
    fn column(&self, head: &str) -> Option<String> {
        Column::cell(COLUMNS, head, self)
    }

    fn further(&self) -> Vec<Field> {
        let lost = ("Lost", self.datagrams.as_ref().map(phrases::lost));
        self.ranked().into_iter().chain([lost]).collect()
    }

    fn ranked(&self) -> Vec<Field> {
        vec![("Retr", self.tcp.map(|tcp| phrases::grouped(tcp.retransmits)))]
    }
}

impl ShownAlone for SingleStream {
    fn lines(&self) -> Vec<(&'static str, Text)> {
        let rate = |value| Text::from(phrases::value(Metric::Throughput, value));
        let carried = format!("{} in {}", glued(&self.bytes.to_string()), glued(&self.elapsed.to_string()));
        let mut lines =
            vec![("Received", with_spread(Metric::Throughput, &self.received)), ("Payload", carried.into())];
        lines.extend(self.forward.map(|value| ("Of this, forward", rate(value))));
        lines.extend(self.reverse.map(|value| ("Of this, reverse", rate(value))));
        lines.extend(self.sent.iter().map(|sent| ("Sent", with_spread(Metric::Throughput, sent))));
        lines.extend(self.tcp.iter().flat_map(tcp));
        lines.extend(self.datagrams.iter().flat_map(datagrams));
        lines.extend(
            self.lateness.iter().map(|late| ("Sender's lateness", phrases::middle_and_tail(late).into())),
        );
        lines.extend(self.stability.map(|share| ("Varies by", Share(share).to_string().into())));
        lines
    }

    fn is_mean(&self) -> bool {
        true
    }
}

fn tcp(tcp: &TcpSummary) -> Vec<(&'static str, Text)> {
    let mut lines = vec![("Retransmissions", phrases::retransmits(tcp).into())];
    lines.extend(tcp.rtt.map(|rtt| ("Round trip under load", rtt.to_string().into())));
    lines.extend(tcp.cwnd.map(|cwnd| ("Congestion window", phrases::window(cwnd).into())));
    lines
}

fn datagrams(datagrams: &DatagramSummary) -> Vec<(&'static str, Text)> {
    let others = format!("{}, {}", datagrams.reordered, datagrams.duplicates);
    let mut lines = vec![
        ("Datagrams received", format!("{}/s", significant(datagrams.rate, 3)).into()),
        ("Lost", phrases::lost(datagrams).into()),
        ("Reordered, duplicate", others.into()),
    ];
    lines.extend(odd("Stray datagrams", Some(datagrams.strays)));
    lines.push(("Jitter (RFC 3550)", datagrams.jitter.to_string().into()));
    lines
}

pub(super) fn with_spread(metric: Metric, rate: &SingleRate) -> Text {
    let scale = Scale::of(metric, rate.rate);
    let text = Text::strong(glued(&scale.quantity(rate.rate)));
    match &rate.spread {
        Some(Spread { interval, .. }) => {
            let range = format!(" ({}, {})", scale.range(interval), Confidence(interval.confidence));
            text.and_plain(glued(&range))
        }
        None => text,
    }
}

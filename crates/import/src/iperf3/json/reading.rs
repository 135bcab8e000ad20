//! Builds a test from a parsed JSON document or a series of events.

use std::ops::RangeInclusive;

use codecs::iperf3::output::{End as Summary, EndStream, Interval as Written, Measure, Start};
use units::{BitRate, Bytes, Nanos};
use workload::{Interval, SocketFacts, Transport};

use super::{
    facts,
    measure::{interval, received_datagrams, sent_of},
};
use crate::{
    imported_test::{End, ImportedTest},
    iperf3::{
        agreement::Agreement,
        cpu::Cpu,
        log::{Log, Stream},
        time,
    },
    series::{MOST, Series},
};

/// iperf3 allows at most 128 connections per direction.
const MOST_STREAMS: usize = 256;
const CUT_OFF: &str = "this test has no summary: it was cut off; the intervals before that are used";
const OVERLAP: Nanos = Nanos(11_000_000);

#[derive(Debug, Clone)]
pub(super) struct Reading {
    start: Start,
    end: Option<End>,
    streams: Vec<ConnectionState>,
    cursor: usize,
    kept: usize,
    damaged: u64,
}

#[derive(Debug, Clone)]
struct ConnectionState {
    socket: i64,
    sends: Option<bool>,
    series: Series,
    /// When the clock was reset after the `-O` period.
    zero: Nanos,
}

#[derive(Clone, Copy)]
struct Summaries {
    sends: bool,
    own: Option<Interval>,
    other: Option<Interval>,
}

pub(super) struct Outcome {
    pub(super) found: Option<ImportedTest>,
    pub(super) notes: Vec<String>,
}

impl Reading {
    pub(super) fn new(start: Start) -> Self {
        let end = match (&start.connecting_to, &start.accepted_connection) {
            (Some(_), _) => Some(End::Client),
            (None, Some(_)) => Some(End::Server),
            (None, None) => None,
        };
        Self { start, end, streams: Vec::new(), cursor: 0, kept: 0, damaged: 0 }
    }

    pub(super) fn interval(&mut self, written: &Written) {
        for measure in &written.streams {
            match interval(measure) {
                Some(interval) => self.keep(measure, interval),
                None if measure.seconds == 0.0 && measure.bytes == 0 => {}
                None => self.damaged += 1,
            }
        }
    }

    fn keep(&mut self, measure: &Measure, mut interval: Interval) {
        let Some(connection) = self.connection(measure.socket.unwrap_or(0)) else {
            self.damaged += 1;
            return;
        };
        connection.sends = connection.sends.or(measure.sender);
        if !interval.warmup && connection.series.ends_in_warmup() && connection.zero == Nanos(0) {
            // iperf3 3.12 may start the clock before the end of the `-O` period, but counts only the bytes after it.
            let contradicts = (interval.end - interval.start).seconds() < measure.seconds * 0.9;
            interval.start = if contradicts { Nanos(0) } else { interval.start };
        }
        let begins = interval.start < OVERLAP && !interval.warmup && connection.series.ends_in_warmup();
        if begins && connection.zero == Nanos(0) {
            connection.zero = connection.series.end().unwrap_or_default();
        }
        interval.start = interval.start + connection.zero;
        interval.end = interval.end + connection.zero;
        if connection.series.end().is_some_and(|end| interval.start + OVERLAP < end) {
            self.damaged += 1;
            return;
        }
        connection.series.push(interval);
        self.kept += 1;
        if self.kept > MOST {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.streams.iter_mut().for_each(|connection| connection.series.halve());
        self.kept = self.streams.iter().map(|connection| connection.series.len()).sum();
        if self.kept > MOST {
            // Intervals that cannot be joined are not from a test log. Drop them, because each additional interval
            // would repeat this search.
            self.damaged += self.kept as u64;
            self.streams.clear();
            self.kept = 0;
        }
    }

    fn connection(&mut self, socket: i64) -> Option<&mut ConnectionState> {
        let next = (self.cursor + 1) % self.streams.len().max(1);
        let is = |connection: &ConnectionState| connection.socket == socket;
        let known = if self.streams.get(next).is_some_and(is) {
            Some(next)
        } else {
            self.streams.iter().position(is)
        };
        self.cursor = match known {
            Some(at) => at,
            None if self.streams.len() < MOST_STREAMS => {
                self.streams.push(ConnectionState {
                    socket,
                    sends: None,
                    series: Series::default(),
                    zero: Nanos(0),
                });
                self.streams.len() - 1
            }
            None => return None,
        };
        self.streams.get_mut(self.cursor)
    }

    pub(super) fn finish(mut self, summary: &Summary, lines: RangeInclusive<u64>) -> Outcome {
        let mut notes = Vec::new();
        if self.damaged > 0 {
            notes.push(format!("skipped {} contradictory intervals", self.damaged));
        }
        let mut ends = summary.streams.clone().unwrap_or_default();
        let by_sums = ends.is_empty() && self.take_sums(summary, &mut ends);
        if by_sums {
            notes.push(
                "the log has only the sums of all connections, which are read as one connection".to_owned(),
            );
        }
        if self.streams.is_empty() {
            self.add_connections(&ends);
        }
        let strides = self.streams.iter().map(|connection| connection.series.stride()).max();
        if let Some(stride) = strides.filter(|stride| *stride > 1) {
            notes.push(format!("the series is long; groups of {stride} intervals were merged"));
        }
        let (streams, agreements) = self.streams(&ends, summary);
        notes.extend(Agreement::note(&agreements));
        if streams.is_empty() {
            notes.push("skipped an iperf3 test without intervals".to_owned());
            return Outcome { found: None, notes };
        }
        if ends.is_empty() {
            notes.push(CUT_OFF.to_owned());
        }
        let test = self.start.test_start.as_ref();
        if let Some(test) = test.filter(|test| !matches!(test.protocol.as_str(), "TCP" | "UDP" | "")) {
            notes.push(format!("this test uses {}; its transport is unknown", test.protocol));
        }
        let log = self.log(summary, streams, lines);
        notes.extend(log.impossible());
        let mut found = log.into_found();
        if by_sums {
            found.settings.streams =
                test.and_then(|test| u32::try_from(test.num_streams).ok()).filter(|it| *it > 0);
        }
        Outcome { found: Some(found), notes }
    }

    /// Adds the connections that only the summary contains, because iperf3 prints nothing else with `-i 0`.
    fn add_connections(&mut self, ends: &[EndStream]) {
        for end in ends {
            let measure = [end.sender, end.receiver, end.udp].into_iter().flatten().next();
            measure.and_then(|measure| self.connection(measure.socket?));
        }
    }

    /// If the summary of a one-way test has only sums, treats them as its only connection.
    fn take_sums(&mut self, summary: &Summary, ends: &mut Vec<EndStream>) -> bool {
        let both_ways = self.start.test_start.as_ref().is_some_and(|test| test.bidir == Some(1));
        if both_ways || summary.sum_sent.or(summary.sum_received).or(summary.sum).is_none() {
            return false;
        }
        let socket = self.streams.first().map_or(0, |connection| connection.socket);
        let of = |sum: Option<Measure>| sum.map(|sum| Measure { socket: Some(socket), ..sum });
        let is_udp = summary.sum.is_some_and(|sum| sum.lost_packets.is_some());
        let (sender, receiver) = (of(summary.sum_sent), of(summary.sum_received));
        let udp = of(summary.sum).filter(|_| is_udp);
        ends.push(if is_udp {
            EndStream { udp, ..EndStream::default() }
        } else {
            EndStream { sender, receiver, udp: None }
        });
        let alone = self.streams.len() == 1;
        if !alone {
            self.streams.clear();
        }
        !alone
    }

    /// If the intervals of any connection disagree with its summary, all connections use their summaries.
    fn streams(&mut self, ends: &[EndStream], summary: &Summary) -> (Vec<Stream>, Vec<Agreement>) {
        let connection = std::mem::take(&mut self.streams);
        let summaries: Vec<Summaries> =
            connection.iter().map(|connection| self.summaries(connection, ends)).collect();
        let agreement = |(connection, summaries): (&ConnectionState, &Summaries)| {
            Agreement::of(&connection.series, summaries.own.as_ref()?)
        };
        let agreements: Vec<Agreement> = connection.iter().zip(&summaries).filter_map(agreement).collect();
        let by_summary = agreements.iter().any(Agreement::is_broken);
        let streams = connection
            .into_iter()
            .zip(summaries)
            .map(|(connection, summaries)| self.stream(connection, summaries, by_summary, summary));
        let carries = |stream: &Stream| !stream.own.is_empty() || stream.other.is_some();
        (streams.filter(carries).collect(), agreements)
    }

    fn summaries(&self, connection: &ConnectionState, ends: &[EndStream]) -> Summaries {
        let of = |measure: &&Measure| measure.socket == Some(connection.socket);
        let find = |pick: fn(&EndStream) -> Option<&Measure>| ends.iter().filter_map(pick).find(of);
        let sender = find(|end| end.sender.as_ref());
        let receiver = find(|end| end.receiver.as_ref());
        let udp = find(|end| end.udp.as_ref());
        let sends = connection
            .sends
            .or_else(|| sender.and_then(|it| it.sender))
            .unwrap_or_else(|| self.usually_sends());
        let summary_of = |sent: bool| match (sent, udp) {
            (true, Some(udp)) => interval(udp).map(|it| Interval { datagrams: sent_of(udp), ..it }),
            (false, Some(udp)) => self.received_of(udp),
            (true, None) => sender.and_then(interval),
            (false, None) => receiver.and_then(interval),
        };
        // A client that gets no results from the server also reports 0 bytes.
        let carried = |it: &Interval| it.bytes.0 > 0 || it.datagrams.is_some_and(|it| it.lost > 0);
        Summaries { sends, own: summary_of(sends).filter(carried), other: summary_of(!sends).filter(carried) }
    }

    fn stream(
        &self,
        connection: ConnectionState,
        summaries: Summaries,
        by_summary: bool,
        summary: &Summary,
    ) -> Stream {
        let mut own = connection.series.into_intervals();
        if own.is_empty() || (by_summary && summaries.own.is_some()) {
            own = summaries.own.into_iter().collect();
        }
        let connected = self.start.connected.iter().find(|it| it.socket == connection.socket);
        Stream {
            sends: summaries.sends,
            local: connected.map(|it| format!("{}:{}", it.local_host, it.local_port)),
            remote: connected.map(|it| format!("{}:{}", it.remote_host, it.remote_port)),
            own,
            // Ignore the client's results, because a server does not wait for them.
            other: summaries.other.filter(|_| self.end != Some(End::Server)),
            socket: self.socket(summaries.sends, summary),
        }
    }

    fn socket(&self, sends: bool, summary: &Summary) -> SocketFacts {
        let congestion =
            if sends { &summary.sender_tcp_congestion } else { &summary.receiver_tcp_congestion };
        let size =
            |value: Option<i64>| value.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0).map(Bytes);
        SocketFacts {
            congestion: congestion.clone(),
            mss: self.start.tcp_mss_default.and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0),
            send_buffer: size(self.start.sndbuf_actual),
            receive_buffer: size(self.start.rcvbuf_actual),
            ..SocketFacts::default()
        }
    }

    /// Returns whether this end usually sends. Before 3.7, connections have no `sender` field.
    fn usually_sends(&self) -> bool {
        let reverse = self.start.test_start.as_ref().is_some_and(|test| test.reverse == 1);
        (self.end != Some(End::Server)) != reverse
    }

    fn received_of(&self, udp: &Measure) -> Option<Interval> {
        let sent = interval(udp)?;
        let (packets, lost) = (udp.packets?.max(0), udp.lost_packets?.max(0));
        let share = if packets > 0 { 1.0 - (lost.min(packets) as f64 / packets as f64) } else { 0.0 };
        let bytes = Bytes((sent.bytes.0 as f64 * share).round() as u64);
        Some(Interval { bytes, datagrams: received_datagrams(udp), ..sent })
    }

    fn log(&self, summary: &Summary, streams: Vec<Stream>, lines: RangeInclusive<u64>) -> Log {
        let test = self.start.test_start.as_ref();
        let transport = test.and_then(|test| match test.protocol.as_str() {
            "TCP" => Some(Transport::Tcp),
            "UDP" => Some(Transport::Udp),
            _ => None,
        });
        let rate = test.and_then(|test| test.target_bitrate).or(self.start.target_bitrate);
        let started = self.start.timestamp.as_ref();
        let cpu = summary.cpu_utilization_percent;
        Log {
            format: "iperf3 JSON",
            lines,
            end: self.end,
            version: self
                .start
                .version
                .as_deref()
                .and_then(|it| it.strip_prefix("iperf "))
                .map(str::to_owned),
            transport,
            knows_direction: test.is_some() || self.end.is_some(),
            message: test.and_then(|test| u64::try_from(test.blksize).ok()).filter(|it| *it > 0).map(Bytes),
            congestion: summary.sender_tcp_congestion.clone(),
            rate: rate.filter(|rate| *rate > 0).map(|rate| BitRate(rate as f64)),
            options: facts::options(&self.start),
            observed: facts::observed(&self.start),
            peer: None,
            cpu: cpu.and_then(|cpu| Cpu::of(cpu.host_total, cpu.remote_total)),
            started: started.and_then(|it| time::of_seconds(it.timesecs, it.timemillisecs)),
            streams,
        }
    }
}

//! Builds one test from a parsed JSON document or a series of events.

use std::{collections::BTreeMap, ops::RangeInclusive};

use codecs::iperf3::output::{End as Summary, EndStream, Interval as Written, Measure, Start};
use units::{BitRate, Bytes, Nanos};
use workload::{DatagramSample, Interval, SocketFacts, TcpSample, Transport};

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
const OVERLAP: Nanos = Nanos(11_000_000);
/// Larger values (30 years, or an exabyte) mean that the log is damaged.
const LONGEST: f64 = 1e9;
const MOST_BYTES: i64 = 1 << 60;

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
    /// The time at which the clock was reset, after the `-O` period.
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
            // Version 3.12 may start the time before the `-O` period ends, but count bytes only after it.
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
            // Intervals that cannot be joined are not from the log of a test, and every further interval
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
            notes.push("only sums over all connections exist; read as one connection".to_owned());
        }
        if self.streams.is_empty() {
            // With `-i 0`, iperf3 prints only a summary.
            let sockets = ends
                .iter()
                .filter_map(|end| [end.sender, end.receiver, end.udp].iter().flatten().next()?.socket);
            for socket in sockets {
                self.connection(socket);
            }
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
            notes.push(
                "this test has no summary: it was cut off; the intervals before that are used".to_owned(),
            );
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

    /// If the summary of a one-way test has only sums, they become its only connection.
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

    /// Builds all connections. If the intervals of any connection disagree with its summary, the summaries are used.
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
        // A client that received no results from the server also prints zero bytes. If datagrams were lost,
        // it did receive results.
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
            // A server does not wait for the client's results.
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

    /// Returns whether this end sends. Before version 3.7, connections have no `sender` field.
    fn usually_sends(&self) -> bool {
        let reverse = self.start.test_start.as_ref().is_some_and(|test| test.reverse == 1);
        (self.end != Some(End::Server)) != reverse
    }

    /// Returns the received bytes, computed from the constant size of the datagrams.
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
        let address = |with_port: &Option<String>| Some(with_port.as_deref()?.rsplit_once(':')?.0.to_owned());
        let own = streams.first().and_then(|stream| address(&stream.local));
        let hosts = own.zip(streams.first().and_then(|stream| address(&stream.remote)));
        let hosts =
            hosts.map(|(own, peer)| if self.end == Some(End::Server) { (peer, own) } else { (own, peer) });
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
            options: self.options(),
            observed: self.observed(),
            hosts,
            peer: None,
            cpu: cpu.and_then(|cpu| Cpu::of(cpu.host_total, cpu.remote_total)),
            started: started.and_then(|it| time::of_seconds(it.timesecs, it.timemillisecs)),
            streams,
        }
    }
}

impl Reading {
    fn options(&self) -> BTreeMap<String, String> {
        let start = &self.start;
        let test = start.test_start.as_ref();
        let size = |bytes: i64| Bytes(bytes.unsigned_abs()).to_string();
        let fq_rate = test.and_then(|test| test.fqrate).or(start.fq_rate);
        let set = |name: &str, value: Option<i64>, written: &dyn Fn(i64) -> String| {
            value.filter(|value| *value > 0).map(|value| (name.to_owned(), written(value)))
        };
        [
            set("mss", start.tcp_mss, &|value| value.to_string()),
            set("window", start.sock_bufsize, &size),
            set("fq-rate", fq_rate, &|rate| BitRate(rate as f64).to_string()),
            set("bytes", test.map(|test| test.bytes), &size),
            set("blocks", test.map(|test| test.blocks), &|value| value.to_string()),
            set("omit", test.map(|test| test.omit), &|value| value.to_string()),
            set("tos", test.and_then(|test| test.tos), &|value| value.to_string()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn observed(&self) -> BTreeMap<&'static str, String> {
        let port = match (&self.start.connecting_to, self.start.connected.first()) {
            (Some(server), _) => Some(server.port),
            (None, own) => own.map(|own| own.local_port),
        };
        let mss = self.start.tcp_mss_default.filter(|mss| *mss > 0).map(|mss| mss.to_string());
        let port = port.filter(|port| *port > 0).map(|port| port.to_string());
        [("port", port), ("mss", mss)].into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn interval(measure: &Measure) -> Option<Interval> {
    let sensible = |seconds: f64| seconds.is_finite() && (0.0..LONGEST).contains(&seconds);
    let nanos = |seconds: f64| Nanos((seconds * 1e9).round() as u64);
    let fits = sensible(measure.start) && sensible(measure.end) && measure.end > measure.start;
    if !fits || !(0..MOST_BYTES).contains(&measure.bytes) {
        return None;
    }
    let counted = measure.retransmits.is_some() || measure.snd_cwnd.is_some() || measure.rtt.is_some();
    Some(Interval {
        start: nanos(measure.start),
        end: nanos(measure.end),
        bytes: Bytes(measure.bytes.cast_unsigned()),
        warmup: measure.omitted == Some(true),
        tcp: counted.then(|| tcp(measure)),
        datagrams: if measure.jitter_ms.is_some() { received_datagrams(measure) } else { sent_of(measure) },
    })
}

fn tcp(measure: &Measure) -> TcpSample {
    let number = |value: Option<i64>| value.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    let micros = |value: Option<i64>| Nanos(number(value).saturating_mul(1000));
    TcpSample {
        retransmits: u32::try_from(number(measure.retransmits)).unwrap_or(u32::MAX),
        cwnd: Bytes(number(measure.snd_cwnd)),
        rtt: micros(measure.rtt),
        rtt_variation: micros(measure.rttvar),
        reorderings: u32::try_from(number(measure.reorder)).unwrap_or(u32::MAX),
        ..TcpSample::default()
    }
}

fn sent_of(measure: &Measure) -> Option<DatagramSample> {
    let count = u64::try_from(measure.packets?).ok()?;
    Some(DatagramSample { count, ..DatagramSample::default() })
}

fn received_datagrams(measure: &Measure) -> Option<DatagramSample> {
    let (all, lost) = (measure.packets?, measure.lost_packets?);
    let jitter = measure.jitter_ms.filter(|it| it.is_finite() && (0.0..1e9).contains(it))?;
    Some(DatagramSample {
        count: u64::try_from(all.checked_sub(lost)?).unwrap_or(0),
        lost,
        reordered: measure.out_of_order.and_then(|it| u64::try_from(it).ok()).unwrap_or(0),
        duplicates: 0,
        strays: 0,
        jitter: Nanos((jitter * 1e6).round() as u64),
    })
}

//! What one JSON document, or a series of events, says of one test. Must not know how either is parsed.

use std::ops::RangeInclusive;

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

/// iperf3 makes 128 connections in each direction at most.
const MOST_STREAMS: usize = 256;
/// Clocks of neighbouring intervals may overlap by this.
const OVERLAP: Nanos = Nanos(11_000_000);
/// A time or a number of bytes beyond these is damage: 30 years, an exabyte.
const LONGEST: f64 = 1e9;
const MOST_BYTES: i64 = 1 << 60;

/// A test that is being read.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    start: Start,
    end: Option<End>,
    streams: Vec<ConnectionState>,
    cursor: usize,
    kept: usize,
    damaged: u64,
}

/// What was seen of one connection.
#[derive(Debug, Clone)]
struct ConnectionState {
    socket: i64,
    sends: Option<bool>,
    series: Series,
    /// Where the clock was set back to zero, after what `-O` leaves out.
    zero: Nanos,
}

/// What the summary says of one connection.
#[derive(Clone, Copy)]
struct Summaries {
    sends: bool,
    own: Option<Interval>,
    other: Option<Interval>,
}

/// What came of it.
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

    /// Takes an interval of all connections.
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
        let Some(seen) = self.seen(measure.socket.unwrap_or(0)) else {
            self.damaged += 1;
            return;
        };
        seen.sends = seen.sends.or(measure.sender);
        if !interval.warmup && seen.series.ends_in_warmup() && seen.zero == Nanos(0) {
            // 3.12 may take the time from before what `-O` leaves out, and the bytes from after it.
            let contradicts = (interval.end - interval.start).seconds() < measure.seconds * 0.9;
            interval.start = if contradicts { Nanos(0) } else { interval.start };
        }
        let begins = interval.start < OVERLAP && !interval.warmup && seen.series.ends_in_warmup();
        if begins && seen.zero == Nanos(0) {
            seen.zero = seen.series.end().unwrap_or_default();
        }
        interval.start = interval.start + seen.zero;
        interval.end = interval.end + seen.zero;
        if seen.series.end().is_some_and(|end| interval.start + OVERLAP < end) {
            self.damaged += 1;
            return;
        }
        seen.series.push(interval);
        self.kept += 1;
        if self.kept > MOST {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.streams.iter_mut().for_each(|seen| seen.series.halve());
        self.kept = self.streams.iter().map(|seen| seen.series.len()).sum();
        if self.kept > MOST {
            // Pieces that do not join: no log of a test looks like this, and each more would halve all of them again.
            self.damaged += self.kept as u64;
            self.streams.clear();
            self.kept = 0;
        }
    }

    fn seen(&mut self, socket: i64) -> Option<&mut ConnectionState> {
        let next = (self.cursor + 1) % self.streams.len().max(1);
        let is = |seen: &ConnectionState| seen.socket == socket;
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

    /// What it comes to, with its summary.
    pub(super) fn finish(mut self, summary: &Summary, lines: RangeInclusive<u64>) -> Outcome {
        let mut notes = Vec::new();
        if self.damaged > 0 {
            notes.push(format!(
                "{} measures contradict themselves or each other and were left out",
                self.damaged
            ));
        }
        let mut ends = summary.streams.clone().unwrap_or_default();
        let by_sums = ends.is_empty() && self.take_sums(summary, &mut ends);
        if by_sums {
            notes.push("only sums over all connections are there, read as one connection".to_owned());
        }
        if self.streams.is_empty() {
            // `-i 0` has a summary alone.
            let sockets = ends
                .iter()
                .filter_map(|end| [end.sender, end.receiver, end.udp].iter().flatten().next()?.socket);
            for socket in sockets {
                self.seen(socket);
            }
        }
        let strides = self.streams.iter().map(|seen| seen.series.stride()).max();
        if let Some(stride) = strides.filter(|stride| *stride > 1) {
            notes.push(format!("the series is long; {stride} intervals each were added up to one"));
        }
        let (streams, agreements) = self.streams(&ends, summary);
        notes.extend(Agreement::note(&agreements));
        if streams.is_empty() {
            notes.push("a test of iperf3 without any interval was left out".to_owned());
            return Outcome { found: None, notes };
        }
        if ends.is_empty() {
            notes.push("this test has no summary, it was cut off; what is there is kept".to_owned());
        }
        let test = self.start.test_start.as_ref();
        if let Some(test) = test.filter(|test| !matches!(test.protocol.as_str(), "TCP" | "UDP" | "")) {
            notes.push(format!("this test is of {}; its transport is left open", test.protocol));
        }
        let mut found = self.log(summary, streams, lines).into_found();
        if by_sums {
            found.told.streams =
                test.and_then(|test| u32::try_from(test.num_streams).ok()).filter(|it| *it > 0);
        }
        Outcome { found: Some(found), notes }
    }

    /// Takes the sums of a one-way test for its only connection, where the summary has no more than those.
    fn take_sums(&mut self, summary: &Summary, ends: &mut Vec<EndStream>) -> bool {
        let both_ways = self.start.test_start.as_ref().is_some_and(|test| test.bidir == Some(1));
        if both_ways || summary.sum_sent.or(summary.sum_received).or(summary.sum).is_none() {
            return false;
        }
        let socket = self.streams.first().map_or(0, |seen| seen.socket);
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

    /// Every connection. Where the intervals of one are not what its summary sums up, the summaries count.
    fn streams(&mut self, ends: &[EndStream], summary: &Summary) -> (Vec<Stream>, Vec<Agreement>) {
        let seen = std::mem::take(&mut self.streams);
        let told: Vec<Summaries> = seen.iter().map(|seen| self.summaries(seen, ends)).collect();
        let agreement =
            |(seen, told): (&ConnectionState, &Summaries)| Agreement::of(&seen.series, told.own.as_ref()?);
        let agreements: Vec<Agreement> = seen.iter().zip(&told).filter_map(agreement).collect();
        let by_summary = agreements.iter().any(Agreement::is_broken);
        let streams =
            seen.into_iter().zip(told).map(|(seen, told)| self.stream(seen, told, by_summary, summary));
        let carries = |stream: &Stream| !stream.own.is_empty() || stream.other.is_some();
        (streams.filter(carries).collect(), agreements)
    }

    /// What the summary says of a connection at both its ends.
    fn summaries(&self, seen: &ConnectionState, ends: &[EndStream]) -> Summaries {
        let of = |measure: &&Measure| measure.socket == Some(seen.socket);
        let find = |pick: fn(&EndStream) -> Option<&Measure>| ends.iter().filter_map(pick).find(of);
        let sender = find(|end| end.sender.as_ref());
        let receiver = find(|end| end.receiver.as_ref());
        let udp = find(|end| end.udp.as_ref());
        let sends =
            seen.sends.or_else(|| sender.and_then(|it| it.sender)).unwrap_or_else(|| self.usually_sends());
        let summary_of = |sent: bool| match (sent, udp) {
            (true, Some(udp)) => interval(udp).map(|it| Interval { datagrams: sent_of(udp), ..it }),
            (false, Some(udp)) => self.received_of(udp),
            (true, None) => sender.and_then(interval),
            (false, None) => receiver.and_then(interval),
        };
        // No byte is what a client prints that never heard from its server, too; datagrams that were lost are told.
        let carried = |it: &Interval| it.bytes.0 > 0 || it.datagrams.is_some_and(|it| it.lost > 0);
        Summaries { sends, own: summary_of(sends).filter(carried), other: summary_of(!sends).filter(carried) }
    }

    fn stream(&self, seen: ConnectionState, told: Summaries, by_summary: bool, summary: &Summary) -> Stream {
        let mut own = seen.series.into_intervals();
        if own.is_empty() || (by_summary && told.own.is_some()) {
            own = told.own.into_iter().collect();
        }
        let connected = self.start.connected.iter().find(|it| it.socket == seen.socket);
        Stream {
            sends: told.sends,
            local: connected.map(|it| format!("{}:{}", it.local_host, it.local_port)),
            remote: connected.map(|it| format!("{}:{}", it.remote_host, it.remote_port)),
            own,
            // A server does not wait for what the client says in the end.
            other: told.other.filter(|_| self.end != Some(End::Server)),
            socket: self.socket(told.sends, summary),
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

    /// Before 3.7 nothing says of a single connection whether this end sends it.
    fn usually_sends(&self) -> bool {
        let reverse = self.start.test_start.as_ref().is_some_and(|test| test.reverse == 1);
        (self.end != Some(End::Server)) != reverse
    }

    /// What arrived: datagrams are of one size.
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
            hosts,
            peer: None,
            cpu: cpu.and_then(|cpu| Cpu::of(cpu.host_total, cpu.remote_total)),
            started: started.and_then(|it| time::of_seconds(it.timesecs, it.timemillisecs)),
            streams,
        }
    }
}

/// A measure as an interval; `None` where its numbers make no sense.
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

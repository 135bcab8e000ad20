//! One test as its lines come in: which connection a row belongs to, what is interval and what is summary, and what
//! is damaged. Must not know where a test begins.

use load::Transport;
use samples::{DatagramSample, Interval, SocketFacts, TcpSample};
use units::{Bytes, Nanos};

use super::{
    bytes,
    command::Asked,
    cpu::Cpu,
    log::{Log, Stream},
    row::{Id, Printed, Rest, Row, Side, Tag},
};
use crate::{
    found::{End, Found},
    series::{MOST, Series},
};

/// iperf3 makes 128 connections in each direction at most.
const MOST_STREAMS: usize = 256;

/// Both ends of an interval are rounded to 10 ms.
const ROUNDED: Nanos = Nanos(11_000_000);

/// Intervals and summary of a test may differ by this share: both are rounded, and the summary's time is exact.
const DIFFER: f64 = 0.03;

/// A test that is under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    first: u64,
    last: u64,
    pub(super) end: Option<End>,
    /// The other end, as `Connecting to` or `Accepted connection from` names it.
    pub(super) peer: Option<String>,
    pub(super) version: Option<String>,
    pub(super) asked: Asked,
    pub(super) time: Option<String>,
    pub(super) reverse: bool,
    pub(super) cpu: Option<Cpu>,
    pub(super) congestion: Option<String>,
    /// Why it ended early, in iperf3's words.
    pub(super) failure: Option<String>,
    heads: Option<Heads>,
    /// The heads of the intervals, once those of the summary have come.
    interval_heads: Option<Heads>,
    summary: bool,
    has_sides: bool,
    udp: bool,
    streams: Vec<Connection>,
    /// Where the next row's connection is likely to be found.
    cursor: usize,
    /// Sums over all connections, for logs that show nothing else: what this end sends, or all, and what it receives.
    sums: [Connection; 2],
    kept: usize,
    damaged: Damaged,
}

/// The heads of the columns that count.
#[derive(Debug, Clone, Copy, Default)]
struct Heads {
    segments: bool,
    sent: bool,
    received: bool,
}

/// What a log says of one connection.
#[derive(Debug, Clone, Default)]
struct Connection {
    id: u32,
    tag: Option<Tag>,
    local: Option<String>,
    remote: Option<String>,
    series: Series,
    /// Where the clock was set back to zero, after what `-O` leaves out.
    zero: Nanos,
    /// Whether this end sends, where its columns tell.
    sends: Option<bool>,
    of_sender: Option<Interval>,
    of_receiver: Option<Interval>,
    /// A row of a summary without a word.
    plain: Option<Interval>,
    /// Bytes a datagram of the last interval but one, and of the last, at a UDP sender.
    sizes: [Option<f64>; 2],
}

/// Lines that were left out.
#[derive(Debug, Clone, Copy, Default)]
struct Damaged {
    first: u64,
    count: u64,
}

/// Whether a row belongs to this test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Belongs {
    Here,
    /// It begins another test.
    Next,
}

/// What came of a test.
pub(super) struct Outcome {
    /// The test, if anything of it was whole.
    pub(super) found: Option<Found>,
    /// What is missing.
    pub(super) notes: Vec<String>,
}

impl Test {
    pub(super) fn new(line: u64) -> Self {
        Self { first: line, last: line, ..Self::default() }
    }

    /// The last line of it so far.
    pub(super) const fn reaches(&mut self, line: u64) {
        self.last = line;
    }

    /// Whether an interval or a summary was read.
    pub(super) fn has_rows(&self) -> bool {
        self.kept > 0 || self.has_sides
    }

    pub(super) fn damaged(&mut self, line: u64) {
        self.reaches(line);
        if self.damaged.count == 0 {
            self.damaged.first = line;
        }
        self.damaged.count += 1;
    }

    pub(super) fn connection(&mut self, id: u32, local: String, remote: String) {
        if let Some(connection) = self.find(id, None, true) {
            connection.local = Some(local);
            connection.remote = Some(remote);
        }
    }

    /// The heads of columns: the second time they are the summary's.
    pub(super) fn heads(&mut self, segments: bool, sent: bool, received: bool) -> Belongs {
        if self.has_sides {
            return Belongs::Next;
        }
        if self.kept > 0 {
            self.summary = true;
            self.interval_heads = self.interval_heads.or(self.heads);
        }
        self.heads = Some(Heads { segments, sent, received });
        Belongs::Here
    }

    pub(super) fn out_of_order(&mut self, id: Id, count: u64) {
        let Id::Stream(id) = id else { return };
        if let Some(connection) = self.find(id, None, false) {
            for interval in [&mut connection.of_receiver, &mut connection.of_sender].into_iter().flatten() {
                if let Some(datagrams) = &mut interval.datagrams {
                    datagrams.reordered = count;
                }
            }
        }
    }

    /// The row without a word was all of UDP's summary: what was sent, and what of it was lost.
    pub(super) fn plain_summary(&mut self, id: u32) {
        let Some(connection) = self.find(id, None, false) else { return };
        let Some(plain) = connection.plain.take() else { return };
        connection.of_sender = Some(Interval { datagrams: None, ..plain });
        connection.of_receiver = Some(without_the_lost(plain));
    }

    /// Takes a row.
    pub(super) fn row(&mut self, row: &Row, line: u64) -> Belongs {
        if row.side.is_some() || (self.summary && self.is_plain_summary(row)) {
            self.reaches(line);
            self.summary_row(row, line);
            return Belongs::Here;
        }
        if self.summary || self.has_sides {
            // Under the summary's heads it can only be a row of it whose last word is gone.
            if self.heads.is_some() {
                self.damaged(line);
                return Belongs::Here;
            }
            return Belongs::Next;
        }
        self.reaches(line);
        let rest = self.rest_of(row);
        if self.is_cut(row, rest) {
            self.damaged(line);
            return Belongs::Here;
        }
        self.udp |= matches!(rest, Rest::Sent { .. } | Rest::Received { .. });
        self.interval(row, rest, line);
        Belongs::Here
    }

    /// A summary of UDP before 3.2: one row without a word, of what was sent and what of it was lost.
    fn is_plain_summary(&self, row: &Row) -> bool {
        let whole = |connection: &Connection| {
            connection.series.end().is_some_and(|end| row.end + Nanos::from_secs(1) >= end)
        };
        self.udp
            && row.start == Nanos(0)
            && matches!(row.rest, Rest::Received { .. })
            && self.streams.iter().chain(&self.sums).any(whole)
    }

    /// A single number is a count of retransmits where the heads say so: of sums and summaries.
    fn rest_of(&self, row: &Row) -> Rest {
        match row.rest {
            Rest::Sent { datagrams } if self.heads.is_some_and(|heads| heads.segments) => {
                Rest::Segments { retransmits: u32::try_from(datagrams).unwrap_or(u32::MAX), cwnd: None }
            }
            rest => rest,
        }
    }

    /// Whether columns are missing that the heads name: the line was cut off.
    fn is_cut(&self, row: &Row, rest: Rest) -> bool {
        let Some(heads) = self.heads else { return false };
        let receives = row.tag.is_some_and(|tag| !tag.sends);
        match rest {
            Rest::Nothing => (heads.segments && !receives) || heads.sent || heads.received,
            Rest::Segments { cwnd: None, .. } => matches!(row.id, Id::Stream(_)),
            _ => false,
        }
    }

    fn interval(&mut self, row: &Row, rest: Rest, line: u64) {
        let nothing = row.end - row.start < ROUNDED && row.transfer.value == 0.0;
        if nothing {
            return;
        }
        if self.is_needless(row) {
            return;
        }
        let Some(connection) = self.connection_of(row) else { return self.damaged(line) };
        let begins = connection.series.ends_in_warmup() && !row.omitted && connection.zero == Nanos(0);
        let interval =
            if begins && row.start >= ROUNDED { since_zero(row, rest) } else { interval(row, rest) };
        let Some(mut interval) = interval else { return self.damaged(line) };
        if begins {
            connection.zero = connection.series.end().unwrap_or_default();
        }
        interval.start = interval.start + connection.zero;
        interval.end = interval.end + connection.zero;
        if connection.series.end().is_some_and(|end| interval.start + ROUNDED < end) {
            return self.damaged(line);
        }
        let receives = matches!(rest, Rest::Received { .. });
        let sends = matches!(rest, Rest::Segments { .. } | Rest::Sent { .. });
        connection.sends = connection.sends.or((sends || receives).then_some(sends));
        connection.sizes = [connection.sizes[1], size(&interval, rest)];
        connection.series.push(interval);
        self.kept += 1;
        if self.kept > MOST {
            self.halve(line);
        }
    }

    fn halve(&mut self, line: u64) {
        if self.length() > MOST {
            self.streams.iter_mut().chain(&mut self.sums).for_each(|connection| connection.series.halve());
        }
        self.kept = self.length().max(1);
        if self.kept > MOST {
            // Pieces that do not join: no log of a test looks like this.
            self.damaged(line);
            self.streams.clear();
            self.sums = Default::default();
        }
    }

    fn length(&self) -> usize {
        self.streams.iter().chain(&self.sums).map(|connection| connection.series.len()).sum()
    }

    fn summary_row(&mut self, row: &Row, line: u64) {
        let rest = self.rest_of(row);
        self.udp |= matches!(rest, Rest::Sent { .. } | Rest::Received { .. });
        self.has_sides = true;
        let interval = interval(row, rest).filter(|interval| interval.bytes.0 > 0);
        if self.is_needless(row) {
            return;
        }
        let Some(connection) = self.connection_of(row) else { return self.damaged(line) };
        match row.side {
            Some(Side::Sender) => connection.of_sender = interval,
            Some(Side::Receiver) => connection.of_receiver = interval,
            None => connection.plain = interval,
        }
    }

    /// Sums beside what they are the sums of.
    fn is_needless(&self, row: &Row) -> bool {
        row.id == Id::Sum && self.streams.iter().any(Connection::has_anything)
    }

    fn connection_of(&mut self, row: &Row) -> Option<&mut Connection> {
        match row.id {
            Id::Stream(id) => self.find(id, row.tag, true),
            Id::Sum => {
                let sum = &mut self.sums[usize::from(row.tag.is_some_and(|tag| !tag.sends))];
                sum.tag = row.tag;
                Some(sum)
            }
        }
    }

    fn find(&mut self, id: u32, tag: Option<Tag>, make: bool) -> Option<&mut Connection> {
        let is = |it: &Connection| it.id == id && (tag.is_none() || it.tag.is_none() || it.tag == tag);
        let next = (self.cursor + 1) % self.streams.len().max(1);
        let known = if self.streams.get(next).is_some_and(is) {
            Some(next)
        } else {
            self.streams.iter().position(is)
        };
        let at = match known {
            Some(at) => at,
            None if make && self.streams.len() < MOST_STREAMS => {
                self.streams.push(Connection { id, ..Connection::default() });
                self.streams.len() - 1
            }
            None => return None,
        };
        self.cursor = at;
        let connection = &mut self.streams[at];
        connection.tag = connection.tag.or(tag);
        Some(connection)
    }

    /// What it comes to.
    pub(super) fn finish(mut self) -> Outcome {
        let mut notes = Vec::new();
        let place = place(self.first, self.last);
        if !self.has_sides {
            self.trim();
        }
        self.streams.retain(Connection::has_anything);
        let only_sums = self.streams.is_empty() && self.sums.iter().any(Connection::has_anything);
        if only_sums {
            notes.push(format!("{place}: only sums over all connections are there, read as one connection"));
            self.streams =
                std::mem::take(&mut self.sums).into_iter().filter(Connection::has_anything).collect();
        }
        if self.damaged.count > 0 {
            let Damaged { first, count } = self.damaged;
            notes.push(format!("{place}: {count} lines that are damaged, or that contradict others, were left out; the first is line {first}"));
        }
        let failure = self.failure.as_ref().map(|why| format!(", iperf3 says \"{why}\"")).unwrap_or_default();
        if self.streams.is_empty() {
            notes.push(format!("{place}: a test of iperf3 without any interval was left out{failure}"));
            return Outcome { found: None, notes };
        }
        if !self.has_sides {
            notes.push(format!(
                "{place}: this test has no summary, it was cut off; what is there is kept{failure}"
            ));
        }
        let strides = self.streams.iter().map(|connection| connection.series.stride()).max();
        if let Some(stride) = strides.filter(|stride| *stride > 1) {
            notes.push(format!("{place}: the series is long; {stride} intervals each were added up to one"));
        }
        let log = self.into_log(only_sums);
        notes.extend(disagreement(&log.1).map(|what| format!("{place}: {what}")));
        let mut found = log.0.into_found();
        if only_sums {
            found.told.streams = None;
        }
        Outcome { found: Some(found), notes }
    }

    /// Without the intervals that some connections have and others have no more: the log was cut in their midst.
    fn trim(&mut self) {
        self.streams.iter_mut().for_each(Connection::drop_cut_number);
        let ends = || self.streams.iter().filter_map(|connection| connection.series.end());
        let Some(least) = ends().min() else { return };
        self.streams.iter_mut().for_each(|connection| connection.series.trim(least + ROUNDED));
    }

    fn into_log(self, only_sums: bool) -> (Log, Vec<(f64, f64)>) {
        let end = self.whose();
        let local = |connection: &Connection| connection.local.as_deref().map(address);
        let own = self.streams.first().and_then(local).flatten();
        let peer = self.streams.first().and_then(|it| it.remote.as_deref().map(address)).flatten();
        let hosts = own.zip(peer);
        let hosts = hosts.map(|(own, peer)| if end == Some(End::Server) { (peer, own) } else { (own, peer) });
        let udp = self.udp || self.asked.transport == Some(Transport::Udp);
        let reverses: Vec<bool> = self.streams.iter().map(|it| self.sends(it, end)).collect();
        let mut sums = Vec::new();
        let mut streams = Vec::with_capacity(self.streams.len());
        for (connection, sends) in self.streams.into_iter().zip(reverses) {
            let (stream, sum) = connection.into_stream(sends, end != Some(End::Server), &self.congestion);
            sums.extend(sum.filter(|_| !only_sums));
            streams.push(stream);
        }
        let log = Log {
            format: "iperf3 text",
            lines: self.first..=self.last,
            end,
            version: self.version,
            transport: Some(if udp { Transport::Udp } else { Transport::Tcp }),
            message: self.asked.message,
            congestion: self.congestion.or(self.asked.congestion),
            rate: self.asked.rate,
            hosts,
            peer: self.peer,
            cpu: self.cpu,
            started: self.time.as_deref().and_then(super::time::of_version_line),
            streams,
        };
        (log, sums)
    }

    /// Whose log it is: its first line says so, or its tags, or its summary: only a client knows both ends.
    fn whose(&self) -> Option<End> {
        let tagged = || self.streams.iter().find_map(|it| it.tag).map(|tag| tag.end);
        let both = || self.streams.iter().any(|it| it.of_sender.is_some() && it.of_receiver.is_some());
        let receives =
            |it: &Connection| it.of_sender.is_none() && it.of_receiver.is_some() && it.sends != Some(true);
        self.end.or_else(tagged).or_else(|| both().then_some(End::Client)).or_else(|| {
            (!self.streams.is_empty() && self.streams.iter().all(receives)).then_some(End::Server)
        })
    }

    /// Whether this end sends: its tag says so, or its columns. Else a client sends unless the test is reversed, and
    /// a server receives unless its summary tells of sending alone.
    fn sends(&self, connection: &Connection, end: Option<End>) -> bool {
        let told = connection.tag.map(|tag| tag.sends).or(connection.sends);
        told.unwrap_or_else(|| match end {
            Some(End::Server) => connection.of_sender.is_some() && connection.of_receiver.is_none(),
            _ => {
                // Linux shows retransmits to whoever sends; a summary alone has them from the other end.
                let counted = |interval: &Interval| interval.tcp.is_some();
                let from_afar =
                    self.interval_heads.is_some() && connection.of_sender.as_ref().is_some_and(counted);
                !(self.reverse || self.asked.reverse || from_afar)
            }
        })
    }
}

impl Connection {
    fn has_anything(&self) -> bool {
        self.series.len() > 0 || self.of_sender.is_some() || self.of_receiver.is_some()
    }

    /// A count of datagrams is the last number of a line, so that nothing shows when its end is missing, but that
    /// datagrams are all of one size.
    fn drop_cut_number(&mut self) {
        let [before, last] = self.sizes;
        let Some(last) = last else { return };
        let alike = before.is_some_and(|before| (last / before - 1.0).abs() < 0.1);
        if let Some(end) = self.series.end().filter(|_| !alike) {
            self.series.trim(end - Nanos(1));
        }
    }

    /// The stream, and what its intervals and its summary come to where both are there.
    fn into_stream(
        self,
        sends: bool,
        knows_other: bool,
        congestion: &Option<String>,
    ) -> (Stream, Option<(f64, f64)>) {
        let (summary, other) =
            if sends { (self.of_sender, self.of_receiver) } else { (self.of_receiver, self.of_sender) };
        let mut own = self.series.into_intervals();
        let measured = || own.iter().filter(|it| !it.warmup).map(|it| it.bytes.0 as f64).sum::<f64>();
        let sum = summary.filter(|_| !own.is_empty()).map(|summary| (measured(), summary.bytes.0 as f64));
        if own.is_empty() {
            own.extend(summary);
        } else if let (Some(last), Some(summary)) = (own.last_mut(), summary) {
            // Only the summary counts what came late.
            if let (Some(datagrams), Some(all)) = (&mut last.datagrams, summary.datagrams) {
                datagrams.reordered = all.reordered;
            }
        }
        let congestion = if sends { congestion.clone() } else { None };
        let socket = SocketFacts { congestion, ..SocketFacts::default() };
        let other = other.filter(|_| knows_other);
        (Stream { sends, local: self.local, remote: self.remote, own, other, socket }, sum)
    }
}

/// The interval of a row; `None` where its numbers contradict each other.
fn interval(row: &Row, rest: Rest) -> Option<Interval> {
    let carried = bytes::of(row)?;
    let tcp = match rest {
        Rest::Segments { retransmits, cwnd } => {
            Some(TcpSample { retransmits, cwnd: cwnd.unwrap_or_default(), ..TcpSample::default() })
        }
        _ => None,
    };
    let datagrams = match rest {
        Rest::Sent { datagrams } => Some(DatagramSample { count: datagrams, ..DatagramSample::default() }),
        Rest::Received { jitter, lost, total } => {
            let count = i64::try_from(total).ok()?.checked_sub(lost)?.max(0).cast_unsigned();
            Some(DatagramSample { count, lost, jitter, ..DatagramSample::default() })
        }
        _ => None,
    };
    let end = row.start + carried.elapsed;
    Some(Interval { start: row.start, end, bytes: carried.bytes, warmup: row.omitted, tcp, datagrams })
}

/// The first interval after what `-O` leaves out, at an end that took its time from before that and its bytes from
/// after it (3.12): it goes from zero to its end, and its rate is meaningless.
fn since_zero(row: &Row, rest: Rest) -> Option<Interval> {
    let elapsed = row.end.seconds();
    let rate = Printed { value: row.transfer.value * 8.0 / elapsed.max(0.01), within: 0.0 };
    interval(&Row { start: Nanos(0), rate, ..row.clone() }, rest)
}

/// Bytes a datagram of a sender's interval.
fn size(interval: &Interval, rest: Rest) -> Option<f64> {
    let Rest::Sent { datagrams } = rest else { return None };
    (interval.bytes.0 > 0).then(|| interval.bytes.0 as f64 / datagrams as f64)
}

/// What arrived of what was sent: datagrams are of one size.
fn without_the_lost(sent: Interval) -> Interval {
    let Some(datagrams) = sent.datagrams else { return sent };
    let all = datagrams.count as f64 + datagrams.lost.max(0) as f64;
    let share = if all > 0.0 { datagrams.count as f64 / all } else { 0.0 };
    Interval { bytes: Bytes((sent.bytes.0 as f64 * share).round() as u64), ..sent }
}

/// Says where intervals and summary do not agree: lines are missing, or were changed.
fn disagreement(sums: &[(f64, f64)]) -> Option<String> {
    let (intervals, summaries) = sums.iter().fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let differ = summaries > 0.0 && (intervals / summaries - 1.0).abs() > DIFFER;
    let bytes = |value: f64| Bytes(value as u64);
    differ.then(|| {
        format!(
            "the intervals add up to {} and the summary says {}: lines are missing or were changed",
            bytes(intervals),
            bytes(summaries)
        )
    })
}

/// `lines 5 to 20`.
pub(super) fn place(first: u64, last: u64) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

fn address(with_port: &str) -> Option<String> {
    with_port.rsplit_once(':').map(|(address, _)| address.to_owned())
}

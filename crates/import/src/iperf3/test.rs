//! Builds one test from its lines: assigns rows to connections, distinguishes intervals from summaries, and
//! detects damage.

mod connection;
mod outcome;

use std::ops::RangeInclusive;

use units::Nanos;
use workload::Interval;

use self::connection::{Connection, bytes_per_datagram, interval, received, since_zero, size};
pub(super) use self::outcome::Outcome;
use super::{
    command::CommandSettings,
    cpu::Cpu,
    row::{Id, Rest, Row, Side, Tag},
};
use crate::{imported_test::End, series::MOST};

/// iperf3 allows at most 128 connections per direction.
const MOST_STREAMS: usize = 256;

/// Possible sizes of a UDP datagram in bytes. iperf3's header has 12 bytes.
const SIZES: RangeInclusive<f64> = 11.5..=66_000.0;

/// A sum below this fraction of a connection's bytes does not include that connection.
const LESS: f64 = 0.97;

/// Value of an overflowed 32-bit counter.
const FULL: u64 = i32::MAX as u64;

const ROUNDED: Nanos = Nanos(11_000_000);

#[derive(Debug, Clone, Default)]
pub(super) struct Test {
    first: u64,
    last: u64,
    pub(super) end: Option<End>,
    pub(super) peer: Option<String>,
    pub(super) version: Option<String>,
    pub(super) asked: CommandSettings,
    pub(super) time: Option<String>,
    pub(super) reverse: bool,
    pub(super) cpu: Option<Cpu>,
    pub(super) congestion: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) port: Option<String>,
    pub(super) segment_size: Option<String>,
    pub(super) ruled: bool,
    heads: Option<Heads>,
    interval_heads: Option<Heads>,
    summary: bool,
    has_sides: bool,
    udp: bool,
    counts_segments: bool,
    streams: Vec<Connection>,
    cursor: usize,
    sums: [Connection; 2],
    kept: usize,
    damaged: Gaps,
}

#[derive(Debug, Clone, Copy, Default)]
struct Heads {
    segments: bool,
    sent: bool,
    received: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Gaps {
    first: u64,
    count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

fn sum_of(tag: Option<Tag>) -> usize {
    usize::from(tag.is_some_and(|tag| !tag.sends))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Belongs {
    Here,
    Next,
}

impl Test {
    pub(super) fn new(line: u64) -> Self {
        Self { first: line, last: line, ..Self::default() }
    }

    pub(super) const fn reaches(&mut self, line: u64) {
        self.last = line;
    }

    pub(super) fn has_anything(&self) -> bool {
        self.has_rows() || self.damaged.count > 0 || self.end.is_some() || !self.streams.is_empty()
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.kept > 0 && !self.has_sides && self.failure.is_none() && self.end == Some(End::Client)
    }

    pub(super) const fn lines(&self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

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

    pub(super) fn heads(&mut self, segments: bool, sent: bool, received: bool) -> Belongs {
        if self.has_sides {
            return Belongs::Next;
        }
        if self.kept > 0 || self.ruled {
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

    /// Treats the last plain row as the whole UDP summary. Only clients print such a row. It contains the bytes sent
    /// and the datagrams counted by the server.
    pub(super) fn plain_summary(&mut self, id: u32, printed: u64) {
        self.end = self.end.or(Some(End::Client));
        let forward = Some(!(self.reverse || self.asked.reverse));
        let Some(connection) = self.find(id, None, false) else { return };
        let Some(plain) = connection.plain.take().or_else(|| {
            let receives = connection.sends == Some(false);
            if receives { connection.series.take_only() } else { None }
        }) else {
            return;
        };
        let sent = connection.datagrams_counted();
        connection.of_sender = Some(Interval { datagrams: None, ..plain });
        connection.of_receiver = received(plain, if sent > 0 { sent } else { printed });
        connection.late_report = connection.of_receiver.is_none();
        connection.sends = if sent == 0 { forward } else { connection.sends };
        (connection.has_sender_row, connection.has_receiver_row) = (true, true);
        self.has_sides = true;
    }

    pub(super) fn row(&mut self, row: &Row, line: u64) -> Belongs {
        if row.side.is_some() || (self.summary && self.is_plain_summary(row)) {
            if self.is_repeated(row) || self.is_less_than_its_part(row) {
                return Belongs::Next;
            }
            self.reaches(line);
            self.summary_row(row, line);
            return Belongs::Here;
        }
        if self.begins_anew(row) {
            return Belongs::Next;
        }
        if self.summary || self.has_sides {
            // The last word of a summary row is missing.
            self.damaged(line);
            return Belongs::Here;
        }
        self.reaches(line);
        let rest = self.rest_of(row);
        if self.is_cut(row, rest) {
            self.damaged(line);
            return Belongs::Here;
        }
        self.counts(rest);
        self.interval(row, rest, line);
        Belongs::Here
    }

    /// Returns whether the summary already has this row. If so, the row belongs to a later test with missing lines.
    fn is_repeated(&self, row: &Row) -> bool {
        let known = match row.id {
            Id::Stream(id) => self.streams.iter().find(|it| it.id == id && it.tag == row.tag),
            Id::Sum => self.sums.get(sum_of(row.tag)),
        };
        known.is_some_and(|it| match row.side {
            Some(Side::Sender) => it.has_sender_row,
            Some(Side::Receiver) => it.has_receiver_row,
            None => false,
        })
    }

    fn is_less_than_its_part(&self, row: &Row) -> bool {
        let sent = |it: &Connection| it.of_sender.map(|sent| sent.bytes.0 as f64);
        let [only] = &self.streams[..] else { return false };
        row.id == Id::Sum
            && row.side == Some(Side::Sender)
            && sent(only).is_some_and(|sent| row.transfer.value < sent * LESS)
    }

    fn begins_anew(&self, row: &Row) -> bool {
        let known = |it: &&Connection| match row.id {
            Id::Stream(id) => it.id == id && it.tag == row.tag,
            Id::Sum => false,
        };
        let reached = |it: &Connection| {
            let summary = [it.of_sender, it.of_receiver].into_iter().flatten().map(|summary| summary.end);
            let warms_up = it.series.ends_in_warmup() && it.zero == Nanos(0) && !row.omitted;
            let series = it.series.end().filter(|_| !warms_up).map(|end| Nanos(end.0 - it.zero.0));
            summary.chain(series).max()
        };
        let halfway = Nanos(row.end.0.saturating_mul(2));
        let restarts = row.start == Nanos(0) && row.end > Nanos(0);
        restarts && self.streams.iter().filter(known).filter_map(reached).any(|reached| halfway <= reached)
    }

    /// Returns whether this is a UDP summary from before 3.2: a single plain row with sent and lost datagrams.
    fn is_plain_summary(&self, row: &Row) -> bool {
        if self.kept == 0 {
            return matches!(row.rest, Rest::Received { .. }) && row.start == Nanos(0);
        }
        let whole = |connection: &Connection| {
            connection.series.end().is_some_and(|end| row.end + Nanos::from_secs(1) >= end)
        };
        self.udp
            && row.start == Nanos(0)
            && matches!(row.rest, Rest::Received { .. })
            && self.streams.iter().chain(&self.sums).any(whole)
    }

    /// Decides whether a single number after the rate means retransmits or datagrams. In a summary without headings, it
    /// means retransmits, because summaries never show datagrams without losses.
    fn rest_of(&self, row: &Row) -> Rest {
        let Rest::Sent { datagrams } = row.rest else { return row.rest };
        let possible = || SIZES.contains(&(row.transfer.value / datagrams.max(1) as f64));
        let retransmits = match self.heads {
            Some(heads) if heads.segments || heads.sent => heads.segments,
            _ => row.side.is_some() || self.counts_segments || !possible(),
        };
        if retransmits {
            return Rest::Segments { retransmits: u32::try_from(datagrams).unwrap_or(u32::MAX), cwnd: None };
        }
        row.rest
    }

    fn is_cut(&self, row: &Row, rest: Rest) -> bool {
        let Some(heads) = self.heads else { return false };
        // Some versions print the sender's headings in a reverse test.
        let receives = row.tag.map_or(self.reverse, |tag| !tag.sends);
        match rest {
            Rest::Nothing => (heads.segments && !receives) || heads.sent || heads.received,
            Rest::Segments { cwnd: None, .. } => matches!(row.id, Id::Stream(_)),
            _ => false,
        }
    }

    const fn counts(&mut self, rest: Rest) {
        self.udp |= matches!(rest, Rest::Sent { .. } | Rest::Received { .. });
        self.counts_segments |= matches!(rest, Rest::Segments { .. });
    }

    fn interval(&mut self, row: &Row, rest: Rest, line: u64) {
        let nothing = row.end - row.start < ROUNDED && row.transfer.value == 0.0;
        if nothing {
            return;
        }
        if self.keep(row, rest) == Kept::No && !self.is_sum_of_its_parts(row) {
            self.damaged(line);
        }
        if self.kept > MOST {
            self.halve(line);
        }
    }

    fn keep(&mut self, row: &Row, rest: Rest) -> Kept {
        let Some(connection) = self.connection_of(row) else { return Kept::No };
        let begins = connection.series.ends_in_warmup() && !row.omitted && connection.zero == Nanos(0);
        let interval = interval(row, rest).or_else(|| since_zero(row, rest).filter(|_| begins));
        let Some(mut interval) = interval else { return Kept::No };
        if begins && interval.start < ROUNDED {
            connection.zero = connection.series.end().unwrap_or_default();
        }
        interval.start = interval.start + connection.zero;
        interval.end = interval.end + connection.zero;
        if connection.series.end().is_some_and(|end| interval.start + ROUNDED < end) {
            return Kept::No;
        }
        let receives = matches!(rest, Rest::Received { .. });
        let sends = matches!(rest, Rest::Segments { .. } | Rest::Sent { .. });
        connection.sends = connection.sends.or((sends || receives).then_some(sends));
        connection.sizes = [connection.sizes[1], size(&interval, rest)];
        connection.series.push(interval);
        self.kept += 1;
        Kept::Yes
    }

    fn halve(&mut self, line: u64) {
        if self.length() > MOST {
            self.streams.iter_mut().chain(&mut self.sums).for_each(|connection| connection.series.halve());
        }
        self.kept = self.length().max(1);
        if self.kept > MOST {
            // Intervals that cannot be joined are not from a test log.
            self.damaged(line);
            self.damaged.count += self.kept as u64 - 1;
            self.streams.clear();
            self.sums = Default::default();
        }
    }

    fn length(&self) -> usize {
        self.streams.iter().chain(&self.sums).map(|connection| connection.series.len()).sum()
    }

    fn summary_row(&mut self, row: &Row, line: u64) {
        let rest = self.rest_of(row);
        self.counts(rest);
        self.has_sides = true;
        // A client that gets no results from the server reports 0 bytes. If it also reports lost datagrams, it did get
        // results.
        let has_losses = |interval: &Interval| interval.datagrams.is_some_and(|it| it.lost > 0);
        let interval = interval(row, rest).filter(|interval| interval.bytes.0 > 0 || has_losses(interval));
        let Some(connection) = self.connection_of(row) else { return self.damaged(line) };
        if let (Rest::Received { total, .. }, Some(interval)) = (rest, interval) {
            connection.overflowed |= total >= FULL || bytes_per_datagram(&interval, total) > *SIZES.end();
        }
        match row.side {
            Some(side) => connection.summary(side, interval, row),
            None => connection.plain = interval,
        }
    }

    fn is_sum_of_its_parts(&self, row: &Row) -> bool {
        row.id == Id::Sum && self.streams.iter().any(Connection::has_anything)
    }

    fn connection_of(&mut self, row: &Row) -> Option<&mut Connection> {
        match row.id {
            Id::Stream(id) => self.find(id, row.tag, true),
            Id::Sum => {
                let sum = &mut self.sums[sum_of(row.tag)];
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
}

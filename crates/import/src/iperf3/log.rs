//! One end's log of a test, read from text or JSON, and its conversion.
//!
//! For each connection, the log has the series of this end and at most a summary of the other end. Only the client
//! receives the other end's summary, after the test.

use std::{collections::BTreeMap, ops::RangeInclusive};

use samples::{ImportedKind, ImportedSettings, ThreadCpu, ThreadRole, UnixMillis, ValidityWarning};
use units::{BitRate, Bytes, Nanos};
use workload::{Direction, EndSeries, Flow, Interval, Measurement, SocketFacts, StreamData, Transport};

use super::cpu::Cpu;
use crate::imported_test::{End, ImportedTest};

/// A thread above this CPU utilization is a bottleneck, as in plumb's own trials.
const AT_ITS_LIMIT: f64 = 0.97;

#[derive(Debug, Clone)]
pub(super) struct Log {
    pub(super) format: &'static str,
    pub(super) lines: RangeInclusive<u64>,
    /// If unknown, the log is treated as the client's.
    pub(super) end: Option<End>,
    pub(super) version: Option<String>,
    pub(super) transport: Option<Transport>,
    pub(super) knows_direction: bool,
    pub(super) message: Option<Bytes>,
    pub(super) congestion: Option<String>,
    pub(super) rate: Option<BitRate>,
    pub(super) options: BTreeMap<String, String>,
    pub(super) observed: BTreeMap<&'static str, String>,
    pub(super) peer: Option<String>,
    pub(super) cpu: Option<Cpu>,
    pub(super) started: Option<UnixMillis>,
    pub(super) streams: Vec<Stream>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    pub(super) sends: bool,
    pub(super) local: Option<String>,
    pub(super) remote: Option<String>,
    pub(super) own: Vec<Interval>,
    pub(super) other: Option<Interval>,
    pub(super) socket: SocketFacts,
}

/// Size in bytes of the smallest segment that every path must support (RFC 879).
const SEGMENT: f64 = 536.0;
/// Up to this many retransmits may come from a few segments sent repeatedly.
const MANY: u64 = 1000;

impl Log {
    pub(super) fn impossible(&self) -> Option<String> {
        let sender = |stream: &Stream| {
            let own = if stream.sends { stream.own.as_slice() } else { stream.other.as_slice() };
            let counted = own.iter().filter_map(|interval| interval.tcp);
            let retransmits: u64 = counted.map(|tcp| u64::from(tcp.retransmits)).sum();
            (retransmits, own.iter().map(|interval| interval.bytes.0 as f64).sum::<f64>())
        };
        self.streams
            .iter()
            .map(sender)
            .find(|(again, bytes)| *again > MANY && *again as f64 > bytes / SEGMENT)
            .map(|(again, bytes)| {
                let most = (bytes / SEGMENT) as u64;
                format!("warning: {again} retransmits are impossible with at most {most} segments")
            })
    }

    pub(super) fn into_found(self) -> ImportedTest {
        let end = self.end.unwrap_or(End::Client);
        let (settings, threads, warnings) = (self.settings(end), self.threads(end), self.warnings(end));
        let hosts = self.streams.first().and_then(|stream| stream.hosts(end));
        let connections = self.streams.iter().filter_map(|stream| stream.connection(end)).collect();
        let mut flows: Vec<Flow> = Vec::with_capacity(self.streams.len());
        for stream in self.streams {
            let direction = stream.direction(end);
            let id = flows.iter().filter(|flow| flow.direction == direction).count() as u32;
            flows.push(stream.into_flow(id, direction));
        }
        flows.sort_by_key(|flow| flow.direction);
        let measurement = Measurement::Stream(StreamData { flows });
        ImportedTest {
            end: self.end,
            hosts,
            peer: self.peer,
            connections,
            started: self.started,
            threads,
            warnings,
            observed: self.observed,
            ..ImportedTest::new(self.format, self.lines, settings, measurement)
        }
    }

    fn settings(&self, end: End) -> ImportedSettings {
        let directions: Vec<Direction> = self.streams.iter().map(|stream| stream.direction(end)).collect();
        let count = |wanted| directions.iter().filter(|direction| **direction == wanted).count() as u32;
        let (forward, reverse) = (count(Direction::Forward), count(Direction::Reverse));
        let direction = match (forward, reverse) {
            (0, _) => Direction::Reverse,
            (_, 0) => Direction::Forward,
            _ => Direction::Both,
        };
        let tool = self.version.as_ref().map_or_else(|| "iperf3".to_owned(), |it| format!("iperf3 {it}"));
        ImportedSettings {
            tool,
            kind: ImportedKind::Stream,
            transport: self.transport,
            streams: Some(forward.max(reverse)),
            direction: self.knows_direction.then_some(direction),
            message: self.message,
            congestion: self.congestion.clone(),
            rate: self.rate,
            options: self.options.clone(),
        }
    }

    /// Since 3.16, iperf3 uses one thread per stream but logs only their total CPU time. This divides it equally.
    fn threads(&self, end: End) -> Vec<ThreadCpu> {
        let Some(cpu) = self.cpu else { return Vec::new() };
        let elapsed = self.elapsed();
        let threads = if self.has_threads() { self.streams.len().max(1) as u64 } else { 1 };
        let sends = self.streams.first().is_some_and(|stream| stream.sends);
        let of = |end: End, percent: f64, sends: bool| {
            let busy = Nanos((percent / 100.0 * elapsed.0 as f64 / threads as f64).round() as u64);
            let role = if sends { ThreadRole::Send } else { ThreadRole::Receive };
            let thread = ThreadCpu { end: word(end).to_owned(), role, busy, elapsed };
            std::iter::repeat_n(thread, if percent > 0.0 && elapsed.0 > 0 { threads as usize } else { 0 })
        };
        let mut threads: Vec<ThreadCpu> =
            of(end, cpu.own, sends).chain(of(other(end), cpu.other, !sends)).collect();
        threads.sort_by(|a, b| a.end.cmp(&b.end));
        threads
    }

    /// Before 3.16, iperf3 had a single thread. The CPU use of the process shows whether it was the bottleneck.
    fn warnings(&self, end: End) -> Vec<ValidityWarning> {
        let Some(cpu) = self.cpu.filter(|_| self.version.is_some() && !self.has_threads()) else {
            return Vec::new();
        };
        let sends = self.streams.first().is_some_and(|stream| stream.sends);
        let of = |end: End, percent: f64, sends: bool| {
            let (end, busy) = (word(end).to_owned(), percent / 100.0);
            (busy > AT_ITS_LIMIT).then_some(if sends {
                ValidityWarning::GeneratorLimited { end, busy }
            } else {
                ValidityWarning::ReceiverLimited { end, busy }
            })
        };
        of(end, cpu.own, sends).into_iter().chain(of(other(end), cpu.other, !sends)).collect()
    }

    fn has_threads(&self) -> bool {
        let minor =
            |version: &str| version.strip_prefix("3.")?.split(['-', '+', '.']).next()?.parse::<u32>().ok();
        self.version.as_deref().and_then(minor).is_some_and(|minor| minor >= 16)
    }

    fn elapsed(&self) -> Nanos {
        let ends = self.streams.iter().flat_map(|stream| stream.own.last().or(stream.other.as_ref()));
        ends.map(|interval| interval.end).max().unwrap_or_default()
    }
}

impl Stream {
    fn direction(&self, end: End) -> Direction {
        if self.sends == (end == End::Client) { Direction::Forward } else { Direction::Reverse }
    }

    fn ends(&self, end: End) -> Option<(&str, &str)> {
        let (local, remote) = (self.local.as_deref()?, self.remote.as_deref()?);
        Some(if end == End::Client { (local, remote) } else { (remote, local) })
    }

    fn connection(&self, end: End) -> Option<String> {
        self.ends(end).map(|(client, server)| format!("{client} {server}"))
    }

    fn hosts(&self, end: End) -> Option<(String, String)> {
        let address = |with_port: &str| Some(with_port.rsplit_once(':')?.0.to_owned());
        let (client, server) = self.ends(end)?;
        address(client).zip(address(server))
    }

    fn into_flow(self, id: u32, direction: Direction) -> Flow {
        let addresses = self.local.as_ref().zip(self.remote.as_ref());
        let addresses = addresses.map(|(local, remote)| format!("{local} -> {remote}"));
        let socket = SocketFacts { addresses, ..self.socket };
        let own = EndSeries { intervals: self.own, socket, ..EndSeries::default() };
        let other = EndSeries { intervals: self.other.into_iter().collect(), ..EndSeries::default() };
        let (sender, receiver) = if self.sends { (own, other) } else { (other, own) };
        Flow { id, direction, sender, receiver }
    }
}

pub(super) const fn word(end: End) -> &'static str {
    match end {
        End::Server => "server",
        End::Client | End::Both => "client",
    }
}

const fn other(end: End) -> End {
    match end {
        End::Server => End::Client,
        End::Client | End::Both => End::Server,
    }
}

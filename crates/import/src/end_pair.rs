//! Which two logs are the two ends of one test, and what they are together.
//! Must not know formats, nor what becomes of a test.

use std::collections::{HashMap, VecDeque};

use workload::{Direction, Flow, Interval, Measurement, StreamData};

use crate::{
    imported_test::{End, ImportedTest},
    title::{self, Settings},
};

/// Logs wait for their other end until this many intervals do.
const MOST_INTERVALS: usize = 32_768;
/// Or this many logs.
const MOST_LOGS: usize = 2048;

/// Two logs without addresses are ends of one test only when both tell the same amount of received data.
const SAME: f64 = 0.005;

/// Logs that wait for their other end.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// Each with what its headings say: many logs may ask for it.
    waiting: VecDeque<(ImportedTest, Settings)>,
    intervals: usize,
    /// How many of them tell of each connection, and how many of none: only those can be another's end.
    by_connection: HashMap<String, usize>,
    unnamed: usize,
}

impl Pool {
    /// Takes a log; what is complete with it, or can wait no longer, comes back.
    pub(crate) fn offer(&mut self, found: ImportedTest) -> Vec<ImportedTest> {
        if !matches!(found.end, Some(End::Client | End::Server)) || flows(&found).is_empty() {
            return vec![found];
        }
        let settings = title::settings(&found.title);
        // The latest first: ends of one test mostly follow each other.
        let is_other_end =
            |(other, said): &(ImportedTest, Settings)| are_ends_of_one((other, said), (&found, &settings));
        let other = self.may_hold_other_end(&found).then(|| self.waiting.iter().rposition(is_other_end));
        if let Some(at) = other.flatten() {
            let (other, _) = self.waiting.remove(at).expect("its position was found");
            self.leaves(&other);
            return vec![together(other, found)];
        }
        self.comes(&found);
        self.waiting.push_back((found, settings));
        let mut expired = Vec::new();
        while self.intervals > MOST_INTERVALS || self.waiting.len() > MOST_LOGS {
            let Some((oldest, _)) = self.waiting.pop_front() else { break };
            self.leaves(&oldest);
            expired.push(oldest);
        }
        expired
    }

    /// Whether it is worth looking: thousands of logs may wait, and none of another connection is the other end.
    fn may_hold_other_end(&self, found: &ImportedTest) -> bool {
        let known = |connection: &String| self.by_connection.contains_key(connection);
        found.connections.is_empty() || self.unnamed > 0 || found.connections.iter().any(known)
    }

    fn comes(&mut self, found: &ImportedTest) {
        self.intervals += intervals(found);
        self.unnamed += usize::from(found.connections.is_empty());
        for connection in &found.connections {
            *self.by_connection.entry(connection.clone()).or_default() += 1;
        }
    }

    fn leaves(&mut self, found: &ImportedTest) {
        self.intervals -= intervals(found);
        self.unnamed -= usize::from(found.connections.is_empty());
        for connection in &found.connections {
            if let Some(count) = self.by_connection.get_mut(connection) {
                *count -= 1;
                if *count == 0 {
                    self.by_connection.remove(connection);
                }
            }
        }
    }

    /// A log that waits under the same headings, the latest first.
    pub(crate) fn under(&mut self, title: &[String]) -> Option<&mut ImportedTest> {
        self.waiting.iter_mut().rev().map(|(found, _)| found).find(|found| found.title == title)
    }

    /// All that still wait.
    pub(crate) fn drain(&mut self) -> Vec<ImportedTest> {
        (self.intervals, self.unnamed) = (0, 0);
        self.by_connection.clear();
        self.waiting.drain(..).map(|(found, _)| found).collect()
    }
}

fn flows(found: &ImportedTest) -> &[Flow] {
    match &found.measurement {
        Measurement::Stream(stream) => &stream.flows,
        _ => &[],
    }
}

/// The series of both ends of a stream's connections.
pub(crate) fn series(found: &mut ImportedTest) -> impl Iterator<Item = &mut Vec<Interval>> {
    let flows = match &mut found.measurement {
        Measurement::Stream(stream) => stream.flows.as_mut_slice(),
        _ => &mut [],
    };
    flows.iter_mut().flat_map(|flow| [&mut flow.sender.intervals, &mut flow.receiver.intervals])
}

fn intervals(found: &ImportedTest) -> usize {
    flows(found).iter().map(|flow| flow.sender.intervals.len() + flow.receiver.intervals.len()).sum()
}

fn are_ends_of_one((a, of_a): (&ImportedTest, &Settings), (b, of_b): (&ImportedTest, &Settings)) -> bool {
    if a.end == b.end {
        return false;
    }
    if !a.connections.is_empty() && !b.connections.is_empty() {
        return a.connections.iter().any(|connection| b.connections.contains(connection));
    }
    let shape = |found: &ImportedTest| (found.told.transport, found.told.direction, flows(found).len());
    shape(a) == shape(b) && of_a == of_b && received_alike(a, b)
}

/// Whether both tell of the same received bytes.
fn received_alike(a: &ImportedTest, b: &ImportedTest) -> bool {
    let received =
        |found: &ImportedTest| flows(found).iter().map(|flow| flow.receiver.bytes().0 as f64).sum::<f64>();
    let (a, b) = (received(a), received(b));
    a > 0.0 && b > 0.0 && (a / b - 1.0).abs() <= SAME
}

/// One test from the logs of its ends: each end's series from its own.
fn together(a: ImportedTest, b: ImportedTest) -> ImportedTest {
    let (mut client, mut server) = if a.end == Some(End::Client) { (a, b) } else { (b, a) };
    let of_server =
        std::mem::replace(&mut server.measurement, Measurement::Stream(StreamData { flows: vec![] }));
    if let (Measurement::Stream(stream), Measurement::Stream(other)) = (&mut client.measurement, of_server) {
        join(&mut stream.flows, other.flows);
    }
    let (told, other) = (&mut client.told, server.told);
    told.transport = told.transport.or(other.transport);
    told.streams = told.streams.max(other.streams);
    told.message = told.message.or(other.message);
    told.congestion = told.congestion.take().or(other.congestion);
    told.rate = told.rate.or(other.rate);
    if !told.tool.contains(' ') && other.tool.contains(' ') {
        told.tool = other.tool;
    }
    if client.file == server.file {
        let first = *client.lines.start().min(server.lines.start());
        let last = *client.lines.end().max(server.lines.end());
        client.lines = first..=last;
    } else {
        client.other_end = Some((server.file, server.lines));
    }
    client.end = Some(End::Both);
    client.hosts = client.hosts.or(server.hosts).or_else(|| server.peer.zip(client.peer.clone()));
    client.started = client.started.or(server.started);
    client.syscalls.append(&mut server.syscalls);
    if client.threads.is_empty() {
        (client.threads, client.doubts) = (server.threads, server.doubts);
    }
    client
}

/// Gives each of the client's connections the server's series.
fn join(flows: &mut Vec<Flow>, mut of_server: Vec<Flow>) {
    for flow in flows.iter_mut() {
        let same = |other: &Flow| other.direction == flow.direction && are_one(flow, other);
        let known = of_server.iter().position(same).or_else(|| {
            let unnamed = |other: &Flow| other.direction == flow.direction && addresses(other).is_none();
            of_server.iter().position(unnamed)
        });
        let Some(at) = known else { continue };
        let other = of_server.remove(at);
        if flow.direction == Direction::Reverse {
            flow.sender = other.sender;
        } else {
            flow.receiver = other.receiver;
        }
    }
    // Connections that the client's log does not show: they carried too.
    flows.append(&mut of_server);
    flows.sort_by_key(|flow| flow.direction);
    let mut counts = [0, 0];
    for flow in flows {
        let count = &mut counts[usize::from(flow.direction == Direction::Reverse)];
        flow.id = *count;
        *count += 1;
    }
}

fn are_one(client: &Flow, server: &Flow) -> bool {
    let turned = |text: &str| text.split_once(" -> ").map(|(local, remote)| format!("{remote} -> {local}"));
    match (addresses(client), addresses(server)) {
        (Some(client), Some(server)) => turned(server).as_deref() == Some(client),
        (None, None) => client.id == server.id,
        _ => false,
    }
}

fn addresses(flow: &Flow) -> Option<&str> {
    flow.sender.socket.addresses.as_deref().or(flow.receiver.socket.addresses.as_deref())
}

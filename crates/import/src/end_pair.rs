//! Merges the client's and the server's log of a test.

use std::collections::{HashMap, VecDeque};

use workload::{Direction, Flow, Interval, Measurement, StreamData};

use crate::{
    imported_test::{End, ImportedTest},
    title::{self, Settings},
};

const MOST_INTERVALS: usize = 32_768;
const MOST_LOGS: usize = 2048;

/// Logs without addresses are paired only if their received bytes agree within this fraction.
const SAME: f64 = 0.005;

#[derive(Debug, Default)]
pub(crate) struct Pool {
    waiting: VecDeque<(ImportedTest, Settings)>,
    intervals: usize,
    /// Number of waiting logs per connection. Two logs can be a pair only if they share a connection, or if one of them
    /// has no connections.
    by_connection: HashMap<String, usize>,
    unnamed: usize,
}

impl Pool {
    pub(crate) fn offer(&mut self, found: ImportedTest) -> Vec<ImportedTest> {
        if !matches!(found.end, Some(End::Client | End::Server)) || flows(&found).is_empty() {
            return vec![found];
        }
        let settings = title::settings(&found.title);
        // Search the latest logs first, because the two ends of a test are usually adjacent.
        let is_other_end = |(other, other_settings): &(ImportedTest, Settings)| {
            is_pair((other, other_settings), (&found, &settings))
        };
        let other = self.may_hold_other_end(&found).then(|| self.waiting.iter().rposition(is_other_end));
        if let Some(at) = other.flatten() {
            let (other, _) = self.waiting.remove(at).expect("the position is valid");
            self.count_out(&other);
            return vec![merge(other, found)];
        }
        self.count_in(&found);
        self.waiting.push_back((found, settings));
        let mut expired = Vec::new();
        while self.intervals > MOST_INTERVALS || self.waiting.len() > MOST_LOGS {
            let Some((oldest, _)) = self.waiting.pop_front() else { break };
            self.count_out(&oldest);
            expired.push(oldest);
        }
        expired
    }

    fn may_hold_other_end(&self, found: &ImportedTest) -> bool {
        let known = |connection: &String| self.by_connection.contains_key(connection);
        found.connections.is_empty() || self.unnamed > 0 || found.connections.iter().any(known)
    }

    fn count_in(&mut self, found: &ImportedTest) {
        self.intervals += intervals(found);
        self.unnamed += usize::from(found.connections.is_empty());
        for connection in &found.connections {
            *self.by_connection.entry(connection.clone()).or_default() += 1;
        }
    }

    fn count_out(&mut self, found: &ImportedTest) {
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

    pub(crate) fn under(&mut self, title: &[String]) -> Option<&mut ImportedTest> {
        self.waiting.iter_mut().rev().map(|(found, _)| found).find(|found| found.title == title)
    }

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

fn is_pair((a, settings_a): (&ImportedTest, &Settings), (b, settings_b): (&ImportedTest, &Settings)) -> bool {
    if a.end == b.end {
        return false;
    }
    if !a.connections.is_empty() && !b.connections.is_empty() {
        return a.connections.iter().any(|connection| b.connections.contains(connection));
    }
    let shape =
        |found: &ImportedTest| (found.settings.transport, found.settings.direction, flows(found).len());
    shape(a) == shape(b) && settings_a == settings_b && received_alike(a, b)
}

fn received_alike(a: &ImportedTest, b: &ImportedTest) -> bool {
    let received =
        |found: &ImportedTest| flows(found).iter().map(|flow| flow.receiver.bytes().0 as f64).sum::<f64>();
    let (a, b) = (received(a), received(b));
    a > 0.0 && b > 0.0 && (a / b - 1.0).abs() <= SAME
}

fn merge(a: ImportedTest, b: ImportedTest) -> ImportedTest {
    let (mut client, mut server) = if a.end == Some(End::Client) { (a, b) } else { (b, a) };
    let of_server =
        std::mem::replace(&mut server.measurement, Measurement::Stream(StreamData { flows: vec![] }));
    if let (Measurement::Stream(stream), Measurement::Stream(other)) = (&mut client.measurement, of_server) {
        join(&mut stream.flows, other.flows);
    }
    let (settings, other) = (&mut client.settings, server.settings);
    settings.transport = settings.transport.or(other.transport);
    settings.streams = settings.streams.max(other.streams);
    settings.message = settings.message.or(other.message);
    settings.congestion = settings.congestion.take().or(other.congestion);
    settings.rate = settings.rate.or(other.rate);
    if !settings.tool.contains(' ') && other.tool.contains(' ') {
        settings.tool = other.tool;
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
        (client.threads, client.warnings) = (server.threads, server.warnings);
    }
    client
}

fn join(flows: &mut Vec<Flow>, mut of_server: Vec<Flow>) {
    for flow in flows.iter_mut() {
        let same = |other: &Flow| other.direction == flow.direction && is_same_flow(flow, other);
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
    // Connections that appear only in the server's log also carried data.
    flows.append(&mut of_server);
    flows.sort_by_key(|flow| flow.direction);
    let mut counts = [0, 0];
    for flow in flows {
        let count = &mut counts[usize::from(flow.direction == Direction::Reverse)];
        flow.id = *count;
        *count += 1;
    }
}

fn is_same_flow(client: &Flow, server: &Flow) -> bool {
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

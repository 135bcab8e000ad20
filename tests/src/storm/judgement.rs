//! Checks the store, the bridge and the hosts after a storm of faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    process::ExitStatus,
};

use crate::{Connection, Network, PostgresServer};

/// A measured stream has at least this many bytes. The MTU probe sends less.
const STREAM: u64 = 30_000;
const DATABASE: &str = "runs0";

#[derive(Debug, Default)]
pub(super) struct StoredTrials {
    planned: usize,
    rows: usize,
    skipped: String,
    trials: BTreeMap<usize, (String, String)>,
}

impl StoredTrials {
    pub(super) fn of(store: &PostgresServer) -> Self {
        let rows = store.sql(DATABASE, "SELECT place, result, md5(record) FROM trial");
        let trials = rows.lines().map(|row| {
            let mut columns = row.split('|').map(str::to_owned);
            let mut next = || columns.next().expect("three columns");
            (next().parse().expect("a number"), (next(), next()))
        });
        Self {
            planned: store.sql(DATABASE, "SELECT sum(planned) FROM run").parse().expect("a run"),
            rows: rows.lines().count(),
            skipped: store.sql(DATABASE, "SELECT result, reason FROM skipped"),
            trials: trials.collect(),
        }
    }

    pub(super) fn run(store: &PostgresServer) -> String {
        let made = store.sql(DATABASE, "SELECT count(*) FROM pg_tables WHERE tablename = 'run'");
        if made == "0" { String::new() } else { store.sql(DATABASE, "SELECT id FROM run") }
    }

    pub(super) fn count(store: &PostgresServer) -> usize {
        store.sql(DATABASE, "SELECT count(*) FROM trial").parse().expect("a number")
    }

    pub(super) const fn planned(&self) -> usize {
        self.planned
    }

    pub(super) fn are_complete(&self) {
        assert_eq!(self.skipped, "", "of {self}");
        let places: Vec<usize> = self.trials.keys().copied().collect();
        assert!(
            self.rows == self.planned && places.iter().copied().eq(0..self.planned),
            "{self}: {places:?}"
        );
    }

    pub(super) fn hold(&self, before: &Self) {
        let lost: Vec<_> =
            before.trials.iter().filter(|(place, it)| self.trials.get(place) != Some(it)).collect();
        assert!(lost.is_empty(), "lost or altered: {lost:?}");
    }

    pub(super) fn were_on_the_wire(&self, connections: &[Connection]) {
        let mut streams: BTreeMap<[u8; 2], usize> = BTreeMap::new();
        for stream in connections.iter().filter(|seen| seen.bytes >= STREAM) {
            *streams.entry(stream.hosts).or_default() += 1;
        }
        let mut trials: BTreeMap<[u8; 2], usize> = BTreeMap::new();
        for (result, _) in self.trials.values() {
            *trials.entry(hosts_of(result)).or_default() += 1;
        }
        for (hosts, count) in &trials {
            assert!(streams.get(hosts) >= Some(count), "{hosts:?}: {trials:?} trials, streams: {streams:?}");
        }
    }
}

impl fmt::Display for StoredTrials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} trials are stored", self.trials.len(), self.planned)
    }
}

/// Returns the last bytes of the two addresses, e.g. `[1, 2]` for `...b-to-a...`.
fn hosts_of(result: &str) -> [u8; 2] {
    let (from, to) = result.split_once("-to-").expect("a result of a pair");
    let number = |name: Option<u8>| name.expect("a host has a name") - b'a' + 1;
    let mut hosts = [number(from.bytes().last()), number(to.bytes().next())];
    hosts.sort_unstable();
    hosts
}

pub(super) fn sharing(connections: &[Connection]) -> Vec<[&Connection; 2]> {
    let mut shared = Vec::new();
    let mut open: Vec<&Connection> = Vec::new();
    for next in connections {
        open.retain(|other| other.ended > next.begun);
        shared.extend(open.iter().filter(|other| next.shares_a_host(other)).map(|other| [*other, next]));
        open.push(next);
    }
    shared
}

pub(super) fn end_of(status: ExitStatus, printed: &str) -> String {
    assert!(!printed.contains("panicked"), "{printed}");
    let Some(code) = status.code() else { return "a controller was killed".to_owned() };
    assert!([0, 1, 64].contains(&code), "a controller exited with {code}: {printed}");
    let error = printed.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    let plain: String = error.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    format!("a controller ended with {code} {plain}")
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hosts {
    devices: Vec<String>,
    processes: Vec<BTreeSet<u32>>,
    names: Vec<String>,
}

impl Hosts {
    pub(super) fn of(network: &Network, count: usize) -> Self {
        let asked = |words: &[&str]| {
            let ask = |host| network.at_host(host, words).output().expect("nsenter starts");
            (0..count).map(|host| String::from_utf8_lossy(&ask(host).stdout).into_owned()).collect()
        };
        Self {
            devices: asked(&["ls", "/sys/class/net"]),
            processes: (0..count).map(|host| network.processes(host).into_iter().collect()).collect(),
            names: asked(&["grep", "plumb/", "/proc/net/unix"]),
        }
    }

    pub(super) fn are_as_they_were(&self, network: &Network) {
        assert_eq!(*self, Self::of(network, self.devices.len()), "before, and now");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(hosts: [u8; 2], begun: f64, ended: f64) -> Connection {
        Connection { hosts, begun, ended, bytes: STREAM }
    }

    #[test]
    fn finds_a_host_in_two_connections_at_once() {
        let apart = [([1, 2], 0.0, 2.0), ([3, 4], 0.5, 1.5), ([1, 3], 2.0, 3.0), ([2, 4], 2.1, 3.0)];
        let apart: Vec<_> =
            apart.into_iter().map(|(hosts, begun, ended)| connection(hosts, begun, ended)).collect();
        assert!(sharing(&apart).is_empty());
        for extra in [connection([2, 3], 2.9, 4.0), connection([1, 3], 2.5, 2.6)] {
            let connections = [&apart[..], &[extra]].concat();
            assert!(!sharing(&connections).is_empty(), "{connections:?}");
        }
    }

    #[test]
    fn parses_hosts_from_a_result_id() {
        assert_eq!(hosts_of("d-to-b/throughput"), [2, 4]);
    }
}

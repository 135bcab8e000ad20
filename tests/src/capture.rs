//! TCP connections in the packets captured on a network's bridge.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
    process::Stdio,
    sync::mpsc,
    thread,
};

use crate::{Network, PATIENCE, ProcessGuard, signal};

/// Selects packets between two hosts that open or close a connection or carry data. Excludes plain acknowledgements,
/// SSH and the traffic of the host that runs `plumb`.
const FILTER: &str = "tcp and not port 22 and not host 198.18.0.254 and \
                      (tcp[tcpflags] & (tcp-syn|tcp-fin|tcp-rst) != 0 or ip[2:2] > ((ip[0] & 15) + (tcp[12] >> 4)) * 4)";

#[derive(Debug, Clone)]
pub struct Connection {
    /// The last bytes of both addresses, the smaller one first.
    pub hosts: [u8; 2],
    pub begun: f64,
    /// The time of the last packet other than a plain acknowledgement.
    pub ended: f64,
    pub bytes: u64,
}

impl Connection {
    #[must_use]
    pub fn shares_a_host(&self, other: &Self) -> bool {
        self.hosts.iter().any(|host| other.hosts.contains(host))
    }

    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.begun < other.ended && other.begun < self.ended
    }
}

pub struct Capture {
    process: ProcessGuard,
    lines: thread::JoinHandle<String>,
    printed: thread::JoinHandle<String>,
}

impl Capture {
    #[must_use]
    pub fn on_bridge(network: &Network) -> Self {
        let words = ["tcpdump", "-l", "-nn", "-tt", "-s", "128", "-B", "16384", "-i", "br0", FILTER];
        let mut command = network.at_switch(&words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("nsenter starts");
        let mut out = process.stdout.take().expect("it is piped");
        let lines = thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).expect("tcpdump prints text");
            text
        });
        let err = BufReader::new(process.stderr.take().expect("it is piped"));
        let (ready, listens) = mpsc::channel();
        let printed = thread::spawn(move || {
            let mut printed = String::new();
            for line in err.lines().map_while(Result::ok) {
                if line.contains("listening on") {
                    let _ = ready.send(());
                }
                printed += &line;
                printed.push('\n');
            }
            printed
        });
        listens.recv_timeout(PATIENCE).expect("tcpdump listens");
        Self { process: ProcessGuard(process), lines, printed }
    }

    #[must_use]
    pub fn end(mut self) -> Vec<Connection> {
        signal(self.process.0.id(), "TERM");
        self.process.0.wait().expect("it was started");
        let printed = self.printed.join().expect("it only reads");
        assert!(printed.contains("\n0 packets dropped by kernel"), "{printed}");
        let text = self.lines.join().expect("it only reads");
        let mut open: BTreeMap<[(u8, u16); 2], Connection> = BTreeMap::new();
        let mut connections = Vec::new();
        for packet in text.lines().filter_map(Packet::parse) {
            let Packet { time, ends, begins, bytes } = packet;
            // A SYN on the same ports starts a new connection, unless it repeats an unanswered SYN.
            if begins && open.get(&ends).is_some_and(|seen| seen.bytes > 0) {
                connections.extend(open.remove(&ends));
            }
            let hosts = ends.map(|(host, _)| host);
            let seen = open.entry(ends).or_insert(Connection { hosts, begun: time, ended: time, bytes: 0 });
            seen.ended = time;
            seen.bytes += bytes;
        }
        connections.extend(open.into_values());
        connections.sort_by(|one, other| one.begun.total_cmp(&other.begun));
        connections
    }
}

/// A line such as `TIME IP 198.18.0.1.40000 > 198.18.0.2.5001: Flags [S], seq 1, ..., length 0`.
struct Packet {
    time: f64,
    ends: [(u8, u16); 2],
    begins: bool,
    bytes: u64,
}

impl Packet {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (time, _ip, from, _to, to) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        let end = |text: &str| {
            let (address, port) = text.trim_end_matches(':').rsplit_once('.')?;
            Some((address.rsplit_once('.')?.1.parse().ok()?, port.parse().ok()?))
        };
        let mut ends = [end(from)?, end(to)?];
        ends.sort_unstable();
        let bytes = line.rsplit_once("length ").and_then(|(_, count)| count.trim().parse().ok());
        Some(Self { time: time.parse().ok()?, ends, begins: line.contains("Flags [S],"), bytes: bytes? })
    }
}

//! What passes the bridge while several runs want the same hosts: judged by captured packets, not by what the runs say.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    sync::mpsc,
    thread,
};

use plumb_tests::{Network, PATIENCE, by_ssh, pairs, signal};

/// The begin and the end of every connection but those of SSH.
const FILTER: &str = "tcp[tcpflags] & (tcp-syn|tcp-fin|tcp-rst) != 0 and not tcp port 22";

/// A connection by its captured packets.
#[derive(Debug, Clone)]
struct Connection {
    /// The hosts' last bytes, the smaller first.
    hosts: [u8; 2],
    begun: f64,
    ended: f64,
}

impl Connection {
    fn shares_a_host(&self, other: &Self) -> bool {
        self.hosts.iter().any(|host| other.hosts.contains(host))
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.begun < other.ended && other.begun < self.ended
    }
}

/// tcpdump on the bridge.
struct Capture {
    process: Child,
    lines: thread::JoinHandle<String>,
}

impl Capture {
    fn on_bridge(network: &Network) -> Self {
        let mut command = network.at_switch(&["tcpdump", "-l", "-nn", "-tt", "-q", "-i", "br0", FILTER]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("nsenter is there");
        let mut out = process.stdout.take().expect("it is piped");
        let lines = thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).expect("tcpdump prints text");
            text
        });
        let err = BufReader::new(process.stderr.take().expect("it is piped"));
        let (ready, listens) = mpsc::channel();
        // Read to its end, so that tcpdump never waits for a reader.
        thread::spawn(move || {
            for line in err.lines().map_while(Result::ok).filter(|line| line.contains("listening on")) {
                let _ = ready.send(line);
            }
        });
        listens.recv_timeout(PATIENCE).expect("tcpdump listens");
        Self { process, lines }
    }

    /// The connections that were captured.
    fn end(mut self) -> Vec<Connection> {
        signal(self.process.id(), "TERM");
        self.process.wait().expect("it was started");
        let text = self.lines.join().expect("it only reads");
        let mut connections: BTreeMap<[(u8, u16); 2], Connection> = BTreeMap::new();
        for (time, ends) in text.lines().filter_map(packet) {
            let seen = connections.entry(ends).or_insert_with(|| Connection {
                hosts: ends.map(|(host, _)| host),
                begun: time,
                ended: time,
            });
            seen.ended = time;
        }
        connections.into_values().collect()
    }
}

/// When it passed, and its ends, the smaller host first: `TIME IP 198.18.0.1.40000 > 198.18.0.2.5001: tcp 0`.
fn packet(line: &str) -> Option<(f64, [(u8, u16); 2])> {
    let mut words = line.split_whitespace();
    let (time, _ip, from, _to, to) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let end = |text: &str| {
        let (address, port) = text.trim_end_matches(':').rsplit_once('.')?;
        Some((address.rsplit_once('.')?.1.parse().ok()?, port.parse().ok()?))
    };
    let mut ends = [end(from)?, end(to)?];
    ends.sort_unstable();
    Some((time.parse().ok()?, ends))
}

/// Two runs over four and three hosts of six, of which they share one, at the same time; each measures its pairs in rounds.
pub(crate) fn no_host_is_in_two_measurements() {
    let network = crate::network(6);
    for host in 0..6 {
        network.limit(host, "100mbit");
    }
    let capture = Capture::on_bridge(&network);
    let all = "pairs = \"all\"";
    let runs = [("four.toml", 0..4), ("three.toml", 3..6)].map(|(name, hosts)| {
        let file = network.sandbox.file(name, &pairs(all, by_ssh(hosts), 1, "300ms"));
        let mut command = network.command(&["run", &file, "--quiet"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built")
    });
    for run in runs {
        let output = run.wait_with_output().expect("it was started");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let connections = capture.end();
    let pairs: std::collections::BTreeSet<[u8; 2]> = connections.iter().map(|seen| seen.hosts).collect();
    assert_eq!(pairs.len(), 6 + 3, "every pair was seen: {pairs:?}");
    let mut at_once = 0;
    for (place, one) in connections.iter().enumerate() {
        for other in &connections[place + 1..] {
            if one.hosts != other.hosts && one.overlaps(other) {
                assert!(!one.shares_a_host(other), "{one:?} beside {other:?}");
                at_once += 1;
            }
        }
    }
    assert!(at_once > 0, "no two pairs without a common host were measured at the same time");
    let of_four = |seen: &&Connection| seen.hosts.iter().all(|host| *host <= 4);
    let (four, three): (Vec<_>, Vec<_>) = connections.iter().partition(of_four);
    let span = |of: &[&Connection]| {
        let first = of.iter().map(|seen| seen.begun).fold(f64::INFINITY, f64::min);
        (first, of.iter().map(|seen| seen.ended).fold(0.0, f64::max))
    };
    let (four, three) = (span(&four), span(&three));
    assert!(four.1 <= three.0 || three.1 <= four.0, "the runs share a host: {four:?} {three:?}");
}

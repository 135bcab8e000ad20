//! iperf3's options, one per row, for both roles.

use codecs::iperf3::output::{ConnectionInfo, Interval, Measure, Output, TestStart};
use serde_json::Value;

pub(crate) struct Row {
    /// Follows `-c HOST -p PORT -J`, with a free port for `PORT`.
    pub(crate) flags: &'static str,
    pub(crate) proof: fn(&Pair),
}

pub(crate) struct Pair {
    pub(crate) flags: String,
    pub(crate) client: Output,
    pub(crate) server: Output,
    pub(crate) facts: Vec<Value>,
    pub(crate) plumb_serves: bool,
    pub(crate) dropped: i64,
}

const fn row(flags: &'static str, proof: fn(&Pair)) -> Row {
    Row { flags, proof }
}

pub(crate) const ROWS: &[Row] = &[
    row("-t 1", |pair| pair.lasted(1.0)),
    row("-t 2", |pair| pair.lasted(2.0)),
    row("-t 1 -R", |pair| pair.both_report(|test| test.reverse, 1)),
    row("-t 1 --bidir", |pair| {
        assert!(pair.client.end.sum_received_bidir_reverse.is_some_and(|sum| sum.bytes > 0));
    }),
    row("-n 5M", |pair| pair.carried(5 << 20)),
    row("-n 5M -R", |pair| pair.carried(5 << 20)),
    row("-n 5M --bidir", |pair| pair.carried(5 << 20)),
    row("-n 8M -P 4", |pair| pair.carried(8 << 20)),
    row("-k 40 -l 64K", |pair| pair.carried(40 << 16)),
    row("-k 40 -l 64K -R", |pair| pair.carried(40 << 16)),
    row("-t 1 -b 20M", |pair| pair.came_at(20e6)),
    row("-t 1 -b 20M -R", |pair| pair.came_at(20e6)),
    row("-t 1 -b 20M/10 -l 10K", |pair| pair.came_at(20e6)),
    row("-t 1 -b 10M -P 2", |pair| pair.came_at(20e6)),
    row("-t 1 -l 32K", |pair| pair.both_report(|test| test.blksize, 32 << 10)),
    row("-t 1 -l 100 -b 10M -R", |pair| pair.both_report(|test| test.blksize, 100)),
    row("-t 1 -w 128K", buffers),
    row("-t 1 -w 128K -R", buffers),
    row("-t 1 -M 1000", |pair| segments(&pair.client)),
    row("-t 1 -M 1000 -R", |pair| segments(&pair.server)),
    row("-t 1 -C reno", |pair| congestion(&pair.client, &pair.server)),
    row("-t 1 -C reno -R", |pair| congestion(&pair.server, &pair.client)),
    row("-t 1 -O 1", omitted),
    row("-t 1 -O 1 -R", omitted),
    row("-t 1 -f m --forceflush --repeating-payload", |pair| pair.lasted(1.0)),
    row("-t 1 -i 0.25", |pair| assert!((3..=5).contains(&pair.client.intervals.len()), "{}", pair.flags)),
    row("-t 1 -Z", |pair| pair.plumb_sends("zero_copy", &Value::Bool(true))),
    row("-t 1 -Z -R", |pair| pair.plumb_sends("zero_copy", &Value::Bool(true))),
    row("-t 1 -N -l 1K -b 10M", |pair| pair.every_socket("nodelay", &Value::Bool(true))),
    row("-t 1 -S 0x20", |pair| pair.both_report(|test| test.tos.unwrap_or(-1), 32)),
    row("-t 1 --dscp ef -R", |pair| pair.both_report(|test| test.tos.unwrap_or(-1), 184)),
    row("-t 1 -P 3", connections),
    row("-t 1 -P 3 -R", connections),
    row("-t 1 -P 2 --bidir", |pair| assert_eq!(pair.server.start.connected.len(), 4)),
    row("-t 1 --cport PORT", source_port),
    row("-t 1 -B 127.0.0.2", |pair| assert_eq!(first(&pair.server).remote_host, "127.0.0.2")),
    row("-t 1 -4", |pair| assert_eq!(first(&pair.server).remote_host, "127.0.0.1")),
    row("-t 1 -6", |pair| assert_eq!(first(&pair.server).remote_host, "::1")),
    row("-t 1 -6 -M 1000", |pair| segments(&pair.client)),
    row("-t 1 -6 -P 2 --bidir", |pair| assert_eq!(pair.server.start.connected.len(), 4)),
    row("-t 1 -6 -S 0x20 -R", |pair| pair.both_report(|test| test.tos.unwrap_or(-1), 32)),
    row("-6 -u -t 1 -b 10M -l 1000", |pair| datagrams(pair, 1000)),
    row("-6 -u -t 1 -b 10M -l 1000 -R", |pair| datagrams(pair, 1000)),
    row("-t 1 -A 0", |pair| pinned(pair, Some(0), None)),
    row("-t 1 -A 0,1", |pair| pinned(pair, Some(0), Some(1))),
    row("-t 1 -T title", |pair| assert_eq!(pair.client.title.as_deref(), Some("title"))),
    row("-t 1 --extra-data more", |pair| {
        assert_eq!(pair.client.extra_data.as_deref(), Some("more"));
        assert_eq!(pair.server.extra_data.as_deref(), Some("more"));
    }),
    row("-t 1 --get-server-output", |pair| {
        let (json, text) = (&pair.client.server_output_json, &pair.client.server_output_text);
        let received = json.as_ref().and_then(|printed| printed.end.sum_received).map(|sum| sum.bytes);
        let reported = text.as_ref().is_some_and(|text| text.contains("receiver"));
        assert!(
            reported || received == pair.server.end.sum_received.map(|sum| sum.bytes),
            "{json:?} {text:?}"
        );
    }),
    row("-t 1 --connect-timeout 3000", |pair| pair.lasted(1.0)),
    row("-u -t 1", |pair| pair.came_at(1.05e6)),
    row("-u -t 1 -b 20M", |pair| pair.came_at(20e6)),
    row("-u -t 1 -b 20M -R", |pair| pair.came_at(20e6)),
    row("-u -t 1 -b 50M -l 1400", |pair| pair.came_at(50e6)),
    row("-u -t 1 -b 10M --bidir -l 1400", |pair| datagrams(pair, 1400)),
    row("-u -t 1 -b 10M -l 1000", |pair| datagrams(pair, 1000)),
    row("-u -t 1 -b 10M -l 1000 -R", |pair| datagrams(pair, 1000)),
    row("-u -t 1 -b 10M -P 2", |pair| pair.came_at(20e6)),
    row("-u -n 1M -b 50M", |pair| pair.carried(1 << 20)),
    row("-u -k 100 -l 1K -b 1M", |pair| pair.carried(100 << 10)),
    row("-u -t 1 -b 10M --udp-counters-64bit -l 1400", |pair| datagrams(pair, 1400)),
    row("-u -t 1 -b 10M --udp-counters-64bit -l 1400 -R", |pair| datagrams(pair, 1400)),
    row("-u -t 1 -b 20M -O 1", omitted),
    row("-u -t 1 -b 20M -w 256K", buffers),
    row("-u -t 1 -b 20M -S 32", |pair| pair.both_report(|test| test.tos.unwrap_or(-1), 32)),
    // The remaining combinations are from iperf3's release script, test_commands.sh.
    row("-i .3 -O 1 -t 1", omitted),
    row("-u -t 1 -4", |pair| assert_eq!(first(&pair.server).remote_host, "127.0.0.1")),
    row("-u -t 1 -6", |pair| assert_eq!(first(&pair.server).remote_host, "::1")),
    row("-u -P 2 -t 1 -R", |pair| pair.came_at(2.1e6)),
    row("-u -P 2 -t 1 --bidir", |pair| assert_eq!(pair.server.start.connected.len(), 4)),
    row("-n 5M -u -b100M -R", |pair| pair.sent_at_least(5 << 20)),
    row("-k 1K", |pair| pair.carried(1024 * (128 << 10))),
    row("-k 1K -u -b100M -R -l 1K", |pair| pair.sent_at_least(1 << 20)),
    row("-t 1 -A 0/0 -u -b10M", |pair| pair.came_at(10e6)),
    row("-t 1 -u -b20M/100 -l 1K", |pair| pair.came_at(20e6)),
];

/// These rows are for stock clients only, because plumb's client does not support kernel pacing.
pub(crate) const SERVED: &[Row] = &[
    row("-t 1 --fq-rate 5m", |pair| pair.lasted(1.0)),
    row("-u -t 1 --fq-rate 5m", |pair| pair.came_at(1.05e6)),
];

pub(crate) fn host(flags: &str) -> &'static str {
    if flags.contains("-6") { "::1" } else { "127.0.0.1" }
}

impl Pair {
    pub(crate) fn agree(&self) {
        let (client, server, flags) = (&self.client.end, &self.server.end, &self.flags);
        let bytes = |sum: Option<Measure>| sum.map(|sum| sum.bytes).filter(|bytes| *bytes > 0);
        let reverse = self.test(&self.client).reverse == 1;
        if reverse {
            assert!(bytes(client.sum_sent).is_some(), "{flags}: nothing was sent");
            assert_eq!(bytes(client.sum_sent), bytes(server.sum_sent), "{flags}: sent by the server");
            assert!(bytes(client.sum_received).is_some(), "{flags}: nothing was received");
        } else {
            assert!(bytes(client.sum_received).is_some(), "{flags}: nothing was received");
            assert_eq!(
                bytes(client.sum_received),
                bytes(server.sum_received),
                "{flags}: received by the server"
            );
            assert!(bytes(client.sum_sent).is_some(), "{flags}: nothing was sent");
        }
        if self.flags.contains("--bidir") {
            let (here, there) = (client.sum_sent_bidir_reverse, server.sum_sent_bidir_reverse);
            assert!(bytes(here).is_some(), "{flags}: the server sent nothing");
            assert_eq!(bytes(here), bytes(there), "{flags}: sent by the server");
        }
        self.received_is_not_more_than_sent();
    }

    /// A server that sends datagrams stops at the client's request.
    fn sent_at_least(&self, bytes: i64) {
        let sent = self.client.end.sum_sent;
        assert!(sent.is_some_and(|sum| sum.bytes >= bytes), "{}: {sent:?}", self.flags);
    }

    fn received_is_not_more_than_sent(&self) {
        // Each end omits seconds by its own clock.
        if self.flags.contains("-O") {
            return;
        }
        let end = &self.client.end;
        for (sent, received) in
            [(end.sum_sent, end.sum_received), (end.sum_sent_bidir_reverse, end.sum_received_bidir_reverse)]
        {
            if let (Some(sent), Some(received)) = (sent, received) {
                assert!(received.bytes <= sent.bytes, "{}: {received:?} of {sent:?}", self.flags);
            }
        }
    }

    fn both_report(&self, parameter: fn(&TestStart) -> i64, expected: i64) {
        let printed = [&self.client, &self.server].map(|output| parameter(self.test(output)));
        assert_eq!(printed, [expected; 2], "{}", self.flags);
    }

    fn test<'a>(&self, output: &'a Output) -> &'a TestStart {
        output.start.test_start.as_ref().unwrap_or_else(|| panic!("{}: no test started", self.flags))
    }

    fn lasted(&self, seconds: f64) {
        let sum = self.client.end.sum_received.expect("a summary");
        // A busy machine may stop late, but never early.
        assert!((0.5 * seconds..seconds + 2.0).contains(&sum.seconds), "{}: {sum:?}", self.flags);
    }

    /// Every connection carried at least this many bytes in whole writes. With --bidir, the end that finishes
    /// first also stops the other direction.
    fn carried(&self, bytes: i64) {
        let most = bytes + (4 << 17);
        let (sent, other) = (self.client.end.sum_sent, self.client.end.sum_sent_bidir_reverse);
        assert!(sent.is_some_and(|sum| (bytes..=most).contains(&sum.bytes)), "{}: {sent:?}", self.flags);
        assert!(other.is_none_or(|sum| sum.bytes <= most), "{}: {other:?}", self.flags);
    }

    /// Datagrams dropped at a full buffer count as sent.
    fn came_at(&self, rate: f64) {
        let sum = self.client.end.sum_received.expect("a summary");
        let dropped = 8 * self.dropped * self.test(&self.client).blksize;
        let ratio = (sum.bits_per_second + dropped as f64 / sum.seconds) / rate;
        assert!((0.5..1.3).contains(&ratio), "{}: {sum:?}, {} dropped", self.flags, self.dropped);
    }

    fn plumb_sends(&self, fact: &str, expected: &Value) {
        if self.plumb_serves == self.flags.contains("-R") {
            self.every_socket(fact, expected);
        }
        self.lasted(1.0);
    }

    fn every_socket(&self, fact: &str, expected: &Value) {
        assert!(!self.facts.is_empty(), "{}: plumb reports no socket", self.flags);
        for socket in &self.facts {
            assert_eq!(&socket[fact], expected, "{}: {fact} of {socket}", self.flags);
        }
    }
}

fn first(output: &Output) -> &ConnectionInfo {
    output.start.connected.first().expect("a connection")
}

fn streams(output: &Output) -> impl Iterator<Item = &Measure> {
    output.intervals.iter().flat_map(|Interval { streams, .. }| streams)
}

/// The kernel doubles the requested size (socket(7)).
fn buffers(pair: &Pair) {
    let asked = pair.server.start.sock_bufsize.expect("the server's buffers");
    assert_eq!(pair.client.start.sock_bufsize, Some(asked), "{}", pair.flags);
    for output in [&pair.client, &pair.server] {
        assert_eq!(output.start.sndbuf_actual, Some(2 * asked), "{}", pair.flags);
        assert_eq!(output.start.rcvbuf_actual, Some(2 * asked), "{}", pair.flags);
    }
}

/// The congestion window is a multiple of the segment size minus 12 bytes for timestamps.
fn segments(sender: &Output) {
    assert_eq!(sender.start.tcp_mss, Some(1000));
    let windows: Vec<i64> = streams(sender).filter_map(|measure| measure.snd_cwnd).collect();
    assert!(!windows.is_empty() && windows.iter().all(|window| window % 988 == 0), "{windows:?}");
}

fn congestion(sender: &Output, receiver: &Output) {
    assert_eq!(sender.end.sender_tcp_congestion.as_deref(), Some("reno"));
    assert_eq!(receiver.end.receiver_tcp_congestion.as_deref(), Some("reno"));
}

fn omitted(pair: &Pair) {
    pair.both_report(|test| test.omit, 1);
    for output in [&pair.client, &pair.server] {
        let marks: Vec<bool> = streams(output).map(|measure| measure.omitted == Some(true)).collect();
        assert!(marks.contains(&true) && marks.contains(&false), "{}: {marks:?}", pair.flags);
    }
    pair.lasted(1.0);
}

fn connections(pair: &Pair) {
    pair.both_report(|test| test.num_streams, 3);
    for output in [&pair.client, &pair.server] {
        assert_eq!(output.start.connected.len(), 3, "{}", pair.flags);
        assert_eq!(output.end.streams.as_ref().map(Vec::len), Some(3), "{}", pair.flags);
    }
}

fn source_port(pair: &Pair) {
    let port: u16 = pair.flags.rsplit(' ').next().and_then(|port| port.parse().ok()).expect("a port");
    assert_eq!(first(&pair.server).remote_port, port);
    assert_eq!(first(&pair.client).local_port, port);
}

/// All datagrams have the same size, and the receiver counts all that the kernel does not drop.
fn datagrams(pair: &Pair, size: i64) {
    let (client, server) = (&pair.client.end, &pair.server.end);
    let received = if pair.flags.contains("-R") { client.sum_received } else { server.sum_received };
    let received = received.expect("a receiver's summary");
    let (packets, lost) = (received.packets.expect("of UDP"), received.lost_packets.expect("of UDP"));
    assert!(packets > 100 && (0..=pair.dropped).contains(&lost), "{}: {received:?}", pair.flags);
    assert_eq!(received.bytes, (packets - lost) * size, "{}: {received:?}", pair.flags);
}

fn pinned(pair: &Pair, client: Option<u32>, server: Option<u32>) {
    let cpu = if pair.plumb_serves { server } else { client };
    pair.every_socket("cpus", &cpu.map_or(Value::Null, |cpu| Value::from(vec![cpu])));
}

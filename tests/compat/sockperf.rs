//! Stock sockperf against `plumb server` and `plumb ping --sockperf`.

use std::process::Command;

use plumb_tests::{Case, Need, Output as Ended, Sandbox, wait_until};
use serde_json::Value;

use crate::{
    alone::{alone, each},
    peer::{PATIENCE, Running, await_listener, dropped_by_full_buffers, free_port, of_network},
    sandbox,
};

pub(crate) const SOCKPERF: Need = Need::Program("sockperf", "sockperf");

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "serves_stock_sockperf_client_in_every_mode_without_loss",
        needs: &[SOCKPERF],
        test: || serve_all(SERVED, SERVED_FAST),
    },
    Case {
        name: "receives_all_data_of_a_stock_sockperf_throughput_client",
        needs: &[SOCKPERF],
        test: || serve_all(RECEIVED, RECEIVED_FAST),
    },
    Case {
        name: "message_too_long_for_sockperf_ends_the_connection",
        needs: &[SOCKPERF],
        test: || alone(too_long),
    },
    Case { name: "plumb_ping_measures_against_a_stock_sockperf_server", needs: &[SOCKPERF], test: ping_all },
    Case {
        name: "plumb_ping_reports_a_missing_sockperf_server",
        needs: &[],
        test: || alone(no_server_replies),
    },
];

/// At these rates, the socket buffer can hold all datagrams even if the server gets no CPU for most of a second.
const SERVED: &[&str] = &[
    "ping-pong -t 1",
    "ping-pong -t 1 -m 1472 --full-rtt",
    "ping-pong -t 1 -m 64 --nonblocked",
    "ping-pong -t 1 -m 500 --mps 1000 --data-integrity",
    "ping-pong -t 1 -m 300 -r 200",
    "ping-pong -t 1 -m 20000 -b 3",
    "under-load -t 1 --mps 200 --reply-every 10",
    "under-load -t 1 --mps 100 --reply-every 1 -m 1472",
    "under-load -t 1 --mps 200 --reply-every 7 -m 100 -b 5",
];

const SERVED_FAST: &[&str] = &[
    "ping-pong -t 1 --tcp -m 65507 -b 2",
    "under-load -t 1 --tcp",
    "under-load -t 1 --tcp --mps 50000 --reply-every 1 -m 1472",
];

const RECEIVED: &[&str] =
    &["throughput -t 1 --mps 200", "throughput -t 1 --mps 50 -m 1472", "throughput -t 1 --mps 8 -m 16000"];

const RECEIVED_FAST: &[&str] = &[
    "throughput -t 1 --tcp",
    "throughput -t 1 --tcp -m 65507",
    "throughput -t 1",
    "throughput -t 1 -m 1472",
];

fn serve_all(rows: &[&str], fast: &[&str]) {
    let sandbox = sandbox();
    let fast = fast.iter().map(|flags| (*flags).to_owned());
    each(&over_both(rows).chain(fast).collect::<Vec<_>>(), String::clone, |flags| serve(&sandbox, flags));
}

fn over_both(rows: &[&str]) -> impl Iterator<Item = String> {
    rows.iter().flat_map(|flags| [(*flags).to_owned(), format!("{flags} --tcp")])
}

/// Repeats the test if the client closes its connection with unread replies, because it may then report that the
/// server closed it.
fn served(sandbox: &Sandbox, flags: &str) -> [Ended; 2] {
    let both = || {
        let server = Server::start(sandbox, "-1 --idle-timeout 4");
        let client = server.client(flags);
        [client, server.running.finish()]
    };
    let [client, there] = both();
    let own_end =
        may_lose(flags) && client.out.contains("Test end") && client.out.contains("closed by a peer");
    if own_end { both() } else { [client, there] }
}

fn serve(sandbox: &Sandbox, flags: &str) {
    let [client, there] = served(sandbox, flags);
    let dropped = u64::try_from(dropped_by_full_buffers()).expect("a count");
    let printed = PrintedSummary::read(&client, flags, dropped);
    assert_eq!(there.status, Some(0), "{flags}: {there:?}");
    let report = report(&there);
    assert_eq!(report["dialect"], "sockperf", "{flags}: {report}");
    assert!(report["failure"].is_null(), "{flags}: {report}");
    if let Some(received) = printed.received {
        assert!(received > 0, "{flags}: {printed:?}");
        // The client does not wait for messages in flight at the end.
        let (every, under_way) = match flag(flags, "-b") {
            _ if flags.starts_with("under-load") => (flag(flags, "--reply-every").unwrap_or(100), u64::MAX),
            burst => (1, burst.unwrap_or(1)),
        };
        let missing = (printed.sent / every).checked_sub(received).expect("none came twice");
        assert!(missing <= under_way.saturating_add(dropped), "{flags}: {printed:?}, {dropped} dropped");
    }
    let counted = report["messages"]["received"].as_u64().expect("a count");
    let least =
        if may_lose(flags) { printed.received.unwrap_or(1) } else { printed.sent.saturating_sub(dropped) };
    assert!((least..=printed.sent).contains(&counted), "{flags}: {printed:?}, {dropped} dropped: {report}");
    if flag(flags, "-r").is_none() {
        let bytes = report["flows"][0]["bytes"].as_u64();
        assert_eq!(bytes, Some(counted * flag(flags, "-m").unwrap_or(14)), "{flags}: {report}");
    }
}

/// Returns whether messages may be lost: a UDP client at full speed may overflow the socket buffer, and closing a TCP
/// connection with unread replies resets it.
fn may_lose(flags: &str) -> bool {
    let tcp = flags.contains("--tcp");
    if flags.starts_with("throughput") { !tcp && flag(flags, "--mps").is_none() } else { tcp }
}

#[derive(Debug)]
struct PrintedSummary {
    sent: u64,
    /// `None` in modes without replies.
    received: Option<u64>,
}

impl PrintedSummary {
    /// Checks that the client succeeded and lost only replies dropped by the kernel.
    fn read(client: &Ended, flags: &str, dropped: u64) -> Self {
        assert_eq!(client.status, Some(0), "{flags}: {client:?}");
        if flags.starts_with("throughput") {
            return Self { sent: number_after(&client.out, "Total of "), received: None };
        }
        let clean = "; # duplicated messages = 0; # out-of-order messages = 0";
        assert!(client.out.contains(clean), "{flags}: {}", client.out);
        // Over TCP, these messages were still unanswered when the test ended.
        let missed = number_after(&client.out, "# dropped messages = ");
        assert!(
            missed <= dropped || may_lose(flags),
            "{flags}: {dropped} dropped by the kernel: {}",
            client.out
        );
        let total = client.out.lines().find(|line| line.contains("[Total Run]")).expect("a summary");
        let received = Some(number_after(total, "ReceivedMessages="));
        Self { sent: number_after(total, "SentMessages="), received }
    }
}

fn too_long() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "");
    let client = server.client("ping-pong --tcp -t 1 -m 65508");
    assert_ne!(client.status, Some(0), "{client:?}");
    let next = server.client("ping-pong --tcp -t 1 --mps 100");
    assert_eq!(next.status, Some(0), "the server continues: {next:?}");
    server.running.signal("INT");
    let there = server.running.finish();
    assert_eq!(there.status, Some(0), "{there:?}");
    assert!(there.err.contains("refused"), "{there:?}");
    assert_eq!(report(&there)["dialect"], "sockperf");
}

fn ping_all() {
    let sandbox = sandbox();
    let flags =
        ["", "-m 14", "-m 1472 --spin", "-m 60000", "--rate 1k", "--rate 1k -m 14 --spin", "--warmup 0.2"];
    each(&over_both(&flags).collect::<Vec<_>>(), String::clone, |flags| ping(&sandbox, flags));
}

fn ping(sandbox: &Sandbox, flags: &str) {
    let tcp = flags.contains("--tcp");
    let server = Stock::start(tcp);
    let warmup = if flags.contains("--warmup") { "" } else { "--warmup 0" };
    let words = format!("ping 127.0.0.1 --sockperf -p {} -t 1 -J {warmup} {flags}", server.port);
    let ended = sandbox.plumb(&words.split_whitespace().collect::<Vec<_>>());
    let received = server.received();
    assert_eq!(ended.status, Some(0), "{flags}: {ended:?}");
    let document: Value = serde_json::from_str(&ended.out).expect("a JSON document");
    let outcome = &document["outcome"];
    assert_eq!(outcome["kind"], "ping-pong", "{flags}: {document}");
    let count = outcome["round_trips"]["count"].as_u64().expect("a count");
    let lost = outcome["lost"].as_u64().expect("a count");
    if flags.contains("--rate") {
        assert_eq!(count + lost, 1000, "{flags}: one message per interval for a second");
    }
    if tcp || lost == 0 {
        // The client sends one greeting (more over UDP if the reply is late) and does not report the warm-up.
        let more = received.checked_sub(count).expect("replies are received messages");
        let exact = !flags.contains("--warmup") && tcp;
        assert!(more == 1 || !exact && more >= 1, "{flags}: {received} received, {count} answered");
    }
}

fn no_server_replies() {
    let sandbox = sandbox();
    let port = free_port().to_string();
    for (flags, status, printed) in [
        (&["--tcp"][..], 1, "refused"),
        (&[], 1, "refused"),
        (&["-m", "13"], 64, "14"),
        (&["--under", "1G"], 64, "--under"),
    ] {
        let words = [&["ping", "127.0.0.1", "--sockperf", "-t", "1", "-p", &port], flags].concat();
        let ended = sandbox.plumb(&words);
        assert_eq!(ended.status, Some(status), "{flags:?}: {ended:?}");
        assert!(ended.err.contains(printed), "{flags:?}: no `{printed}` in: {}", ended.err);
    }
}

struct Server {
    port: u16,
    running: Running,
}

impl Server {
    fn start(sandbox: &Sandbox, flags: &str) -> Self {
        let port = free_port();
        let words = format!("server -J -B 127.0.0.1 -p {port} {flags}");
        let running = Running::start(sandbox.command(&words.split_whitespace().collect::<Vec<_>>()));
        await_listener(port);
        Self { port, running }
    }

    fn client(&self, flags: &str) -> Ended {
        let words = format!("{flags} -i 127.0.0.1 -p {}", self.port);
        Running::start(sockperf(&words)).finish()
    }
}

struct Stock {
    port: u16,
    running: Running,
}

impl Stock {
    fn start(tcp: bool) -> Self {
        let port = free_port();
        let transport = if tcp { "--tcp" } else { "" };
        let running = Running::start(sockperf(&format!("server -g -i 127.0.0.1 -p {port} {transport}")));
        if tcp {
            await_listener(port);
        } else {
            let there = || of_network("udp").contains(&format!(":{port:04X} "));
            assert!(wait_until(PATIENCE, there), "no socket on port {port}");
        }
        Self { port, running }
    }

    fn received(self) -> u64 {
        self.running.signal("INT");
        let printed = self.running.finish().out;
        assert!(printed.contains("Total Dropped/OOO: 0"), "{printed}");
        number_after(&printed, ": Total ")
    }
}

fn sockperf(words: &str) -> Command {
    let mut command = Command::new("sockperf");
    command.args(words.split_whitespace());
    command
}

fn report(server: &Ended) -> Value {
    let lines = server.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut clients: Vec<Value> = lines.filter(|line| line["dialect"].is_string()).collect();
    assert_eq!(clients.len(), 1, "one client: {}", server.out);
    clients.remove(0)
}

fn flag(flags: &str, name: &str) -> Option<u64> {
    let mut words = flags.split_whitespace().skip_while(|word| *word != name).skip(1);
    words.next().map(|value| value.parse().expect("a number"))
}

fn number_after(text: &str, words: &str) -> u64 {
    let from = text.find(words).unwrap_or_else(|| panic!("no `{words}` in:\n{text}")) + words.len();
    let digits: String = text[from..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number after `{words}` in:\n{text}"))
}

//! `plumb client` against a stock `iperf3 -s`.

use std::net::{TcpListener, TcpStream};

use codecs::iperf3::output::Output;
use plumb_tests::{Case, Output as Ended, Sandbox, in_one_of_three};
use serde_json::Value;

use crate::{
    IPERF3, OPENSSL, ROOT, TCPDUMP,
    alone::{alone, each},
    peer::{Running, await_capture, await_listener, dropped_by_full_buffers, free_port, iperf3},
    sandbox,
    tables::{Pair, ROWS, Row, host},
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "plumb_client_measures_against_stock_iperf3_server_with_every_option",
        needs: &[IPERF3],
        test: every_option,
    },
    Case { name: "plumb_client_explains_errors_as_iperf3_does", needs: &[IPERF3], test: errors },
    Case {
        name: "plumb_client_logs_in_to_a_stock_server_and_fails_with_a_wrong_password",
        needs: &[IPERF3, OPENSSL],
        test: || alone(logging_in),
    },
    Case {
        name: "plumb_client_honours_the_connect_timeout",
        needs: &[ROOT],
        test: || alone(connect_timeout),
    },
    Case { name: "plumb_client_prints_lines_and_a_summary", needs: &[IPERF3], test: lines_and_a_summary },
    Case {
        name: "interrupted_plumb_client_prints_its_result",
        needs: &[IPERF3],
        test: || alone(interrupted),
    },
    Case {
        name: "stores_trials_of_plumb_client_and_finds_a_loss_of_a_fifth_between_runs",
        needs: &[IPERF3],
        test: || in_one_of_three(kept),
    },
    Case {
        name: "packets_of_either_sender_have_the_type_of_service",
        needs: &[ROOT, TCPDUMP, IPERF3],
        test: type_of_service,
    },
];

fn every_option() {
    let sandbox = sandbox();
    each(ROWS, |row| row.flags.to_owned(), |row| check(&sandbox, row));
}

fn check(sandbox: &Sandbox, row: &Row) {
    let flags = row.flags.replace("PORT", &free_port().to_string());
    let server = Server::start(&["-J"]);
    let ended = server.measure(sandbox, &format!("{flags} -J"));
    let there = server.finish();
    assert_eq!(ended.status, Some(0), "{flags}: {ended:?}");
    assert_eq!(there.status, Some(0), "{flags}: {there:?}");
    let pair = Pair {
        client: parsed(&ended),
        server: parsed(&there),
        facts: own_sockets(&ended),
        plumb_serves: false,
        dropped: dropped_by_full_buffers(),
        flags,
    };
    assert!(pair.client.error.is_none() && pair.server.error.is_none(), "{}: {there:?}", pair.flags);
    pair.agree();
    (row.proof)(&pair);
}

type Printed = (&'static str, &'static [&'static str]);

const PRINTED: &[Printed] = &[
    ("-t 1 -i 0.5", &["0.0-0.5 s", "0.5-1.0 s", "retransmits", "cwnd", "Received"]),
    ("-t 1 -R -P 2", &["#0 received", "#1 received", "all received"]),
    ("-u -t 1 -R -b 10M", &["datagrams", "lost", "jitter"]),
    ("-t 1 -T mine", &["mine:"]),
    ("-V -t 1 -i .3 -O .3", &["0.3-0.6 s", "Received"]),
    ("-t 1 -C reno -M 1000 -V", &["Received"]),
    ("-t 1 --get-server-output", &["Server output:", "receiver"]),
];

fn lines_and_a_summary() {
    let sandbox = sandbox();
    each(
        PRINTED,
        |(flags, _)| (*flags).to_owned(),
        |(flags, parts)| {
            let server = Server::start(&[]);
            let ended = server.measure(&sandbox, flags);
            assert_eq!((ended.status, server.finish().status), (Some(0), Some(0)), "{flags}: {ended:?}");
            for part in *parts {
                assert!(ended.out.contains(part), "{flags}: no `{part}` in:\n{}", ended.out);
            }
        },
    );
}

/// Checks that the sender sets this byte in its packets.
fn type_of_service() {
    each(&["client", "server"], |sender| (*sender).to_owned(), |sender| sent_with_the_byte(sender));
}

fn sent_with_the_byte(sender: &str) {
    let sandbox = sandbox();
    let printed = if sender == "client" {
        let stock = Server::start(&[]);
        let capture = tcpdump(&format!("tcp dst port {}", stock.port));
        assert_eq!(stock.measure(&sandbox, "-t 1 -b 20M -S 0x20").status, Some(0));
        capture.finish().out
    } else {
        let port = free_port();
        let words = port.to_string();
        let server = Running::start(sandbox.command(&["server", "-p", &words, "-1"]));
        await_listener(port);
        let capture = tcpdump(&format!("tcp src port {port}"));
        let client = iperf3(&["-c", "127.0.0.1", "-p", &words, "-t", "1", "-b", "20M", "-S", "0x20", "-R"]);
        assert_eq!(Running::start(client).finish().status, Some(0));
        assert_eq!(server.finish().status, Some(0));
        capture.finish().out
    };
    assert!(printed.contains("tos 0x20"), "from plumb {sender}: {printed}");
}

/// Captures a loopback packet with type of service 0x20.
fn tcpdump(filter: &str) -> Running {
    let mut command = std::process::Command::new("tcpdump");
    command.args([
        "-i",
        "lo",
        "-n",
        "-v",
        "-c",
        "1",
        "--immediate-mode",
        &format!("{filter} and ip[1] = 0x20"),
    ]);
    let running = Running::start(command);
    await_capture();
    running
}

/// A listener with a full queue does not answer SYN packets.
fn connect_timeout() {
    std::fs::write("/proc/sys/net/core/somaxconn", "0").expect("root of this network");
    let full = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = full.local_addr().expect("it is bound");
    let _first = TcpStream::connect(address).expect("the queue holds one");
    let port = address.port().to_string();
    let sandbox = sandbox();
    let words = ["client", "127.0.0.1", "-p", &port, "-t", "1", "--connect-timeout", "300"];
    let ended = Running::start(sandbox.command(&words)).finish();
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.err.contains("waited 300 ms"), "{}", ended.err);
}

fn errors() {
    each(
        &[("mistakes", mistakes as fn(&Sandbox)), ("refused", refused), ("busy", busy)],
        |(name, _)| (*name).to_owned(),
        |(_, test)| test(&sandbox()),
    );
}

fn mistakes(sandbox: &Sandbox) {
    let nobody = free_port().to_string();
    for (words, status, printed) in [
        (&["127.0.0.1", "-p", &nobody][..], 1, "refused"),
        (&["no-such-host.invalid"], 1, "no-such-host.invalid"),
        (&["127.0.0.1", "-b", "fast"], 64, "100M"),
        (&["127.0.0.1", "-u", "-C", "cubic"], 64, "-C"),
        (&["127.0.0.1", "-B", "198.18.77.77", "-p", &nobody], 1, "198.18.77.77"),
    ] {
        let ended = sandbox.plumb(&[&["client"], words].concat());
        assert_eq!(ended.status, Some(status), "{words:?}: {ended:?}");
        assert!(ended.err.contains(printed), "{words:?}: no `{printed}` in: {}", ended.err);
    }
    let ended = sandbox.plumb(&["ping", "127.0.0.1", "-p", &nobody]);
    assert!(ended.err.contains("an iperf3 server does not answer pings"), "{}", ended.err);
}

fn refused(sandbox: &Sandbox) {
    let server = Server::start(&[]);
    let ended = server.measure(sandbox, "-t 1 -C nonesuch");
    assert_eq!(ended.status, Some(3), "{ended:?}");
    assert!(ended.err.contains("nonesuch"), "{}", ended.err);
}

fn busy(sandbox: &Sandbox) {
    let server = Server::start(&[]);
    let first = server.client(sandbox, "-t 3 -i 0.2");
    first.await_word(" sent ");
    let second = server.measure(sandbox, "-t 1");
    assert_eq!(second.status, Some(1), "{second:?}");
    assert!(second.err.contains("busy"), "{}", second.err);
    let first = first.finish();
    assert_eq!(first.status, Some(0), "the first test is not disturbed: {first:?}");
}

fn interrupted() {
    let sandbox = sandbox();
    let server = Server::start(&[]);
    let client = server.client(&sandbox, "-t 30 -i 0.2");
    client.await_word(" sent ");
    client.signal("INT");
    let ended = client.finish();
    assert_eq!(ended.status, Some(130), "{ended:?}");
    assert!(ended.out.contains("interrupted"), "the summary is marked as incomplete: {}", ended.out);
    assert!(ended.out.contains("Received  "), "the server reported its received bytes: {}", ended.out);
    let there = server.finish();
    assert_eq!(there.status, Some(0), "the server exits normally: {there:?}");
    assert!(there.out.contains("receiver"), "and prints its summary: {there:?}");
}

fn kept() {
    let sandbox = sandbox();
    let server = Server::of_many(&[]);
    // Under competing load, two runs at the same rate differ by up to 4 % here.
    for (rate, name) in [("20M", "before"), ("16M", "after")] {
        let ended =
            server.measure(&sandbox, &format!("-C cubic -b {rate} -l 8K -t 1 --repeat 5 --pause 100ms"));
        assert_eq!(ended.status, Some(0), "{ended:?}");
        assert!(ended.err.contains("stored as client-"), "{}", ended.err);
        let (trials, summary) = ended.out.split_once("Summary").expect("a summary of the trials");
        let of_trials: Vec<&str> = trials.lines().filter(|line| line.starts_with("trial ")).collect();
        assert!(of_trials.len() == 5 && of_trials[4].starts_with("trial 5 of 5: Received "), "{of_trials:?}");
        assert!(!trials.contains("This machine"), "no report of a single trial: {trials}");
        assert!(summary.contains("5 of 5 trials"), "{summary}");
        let _ = sandbox.succeed(&["baseline", "set", name, "latest"]);
    }
    let compared = sandbox.succeed(&["compare", "baseline:before", "baseline:after", "--json"]).out;
    let compared: Value = serde_json::from_str(&compared).expect("JSON");
    let result = &compared["results"][0];
    assert_eq!(result["comparison"]["verdict"], "lower", "{compared}");
    // If the result was disturbed, competing load may have caused the difference.
    let (verdict, status) = if result["disturbed"].is_string() { ("unknown", 2) } else { ("worse", 1) };
    assert_eq!(result["verdict"], verdict, "{compared}");
    let check = sandbox.plumb(&["check", "baseline:after", "--against", "before", "--max-loss", "5%"]);
    assert_eq!(check.status, Some(status), "{check:?}");
    let ended = server.measure(&sandbox, "-t 300ms --repeat 2 --pause 100ms --quiet");
    assert!(ended.out.lines().count() == 1 && ended.out.starts_with("client-"), "{ended:?}");
    let _ = sandbox.succeed(&["runs", "remove", ended.out.trim()]);
    let ended = server.measure(&sandbox, "-t 300ms --no-keep");
    assert!(ended.status == Some(0) && !ended.err.contains("stored"), "{ended:?}");
    let runs: Value = serde_json::from_str(&sandbox.succeed(&["runs", "--json"]).out).expect("JSON");
    let named: Vec<&Value> =
        runs.as_array().expect("a list").iter().map(|run| &run["baselines"][0]).collect();
    assert_eq!(named, ["after", "before"], "{runs}");
}

fn logging_in() {
    let sandbox = sandbox();
    let keys = Keys::make(&sandbox);
    for (password, status, printed) in [("secret", 0, ""), ("wrong", 1, "authorization failed")] {
        let server = Server::of_many(&keys.of_server());
        let mut command = sandbox.command(&[
            "client",
            "127.0.0.1",
            "-p",
            &server.port,
            "-t",
            "1",
            "--username",
            "somebody",
        ]);
        command.args(["--rsa-public-key-path", &keys.public]).env("IPERF3_PASSWORD", password);
        let ended = Running::start(command).finish();
        assert_eq!(ended.status, Some(status), "{password}: {ended:?}");
        assert!(ended.err.contains(printed), "{password}: {}", ended.err);
    }
    let server = Server::of_many(&keys.of_server());
    let ended = server.measure(&sandbox, "-t 1");
    assert_eq!(ended.status, Some(1), "without a name: {ended:?}");
}

pub(crate) struct Keys {
    private: String,
    pub(crate) public: String,
    users: String,
}

impl Keys {
    pub(crate) fn make(sandbox: &Sandbox) -> Self {
        let path = |name: &str| sandbox.home().join(name).to_str().expect("plain names").to_owned();
        let (private, public) = (path("private.pem"), path("public.pem"));
        let openssl = |words: &[&str]| {
            let mut command = std::process::Command::new("openssl");
            let done = command.args(words).output().expect("openssl starts");
            assert!(done.status.success(), "{done:?}");
        };
        openssl(&["genrsa", "-out", &private, "2048"]);
        openssl(&["rsa", "-in", &private, "-pubout", "-out", &public]);
        // sha256("{somebody}secret")
        let hash = "62d011f9e565b16e2bfd09de149cb9e74830778f454c7978eda54eff1cef5ea3";
        let users = sandbox.file("users.csv", &format!("# name, hash\nsomebody,{hash}\n"));
        Self { private, public, users }
    }

    pub(crate) fn of_server(&self) -> Vec<&str> {
        vec!["--rsa-private-key-path", &self.private, "--authorized-users-path", &self.users]
    }
}

struct Server {
    port: String,
    running: Running,
}

impl Server {
    fn start(flags: &[&str]) -> Self {
        Self::of_many(&[&["-1"], flags].concat())
    }

    fn of_many(flags: &[&str]) -> Self {
        let port = free_port();
        let words = port.to_string();
        let running = Running::start(iperf3(&[&["-s", "-p", &words], flags].concat()));
        await_listener(port);
        Self { port: words, running }
    }

    fn client(&self, sandbox: &Sandbox, flags: &str) -> Running {
        let words = ["client", host(flags), "-p", &self.port].into_iter().chain(flags.split_whitespace());
        Running::start(sandbox.command(&words.collect::<Vec<_>>()))
    }

    fn measure(&self, sandbox: &Sandbox, flags: &str) -> Ended {
        self.client(sandbox, flags).finish()
    }

    fn finish(self) -> Ended {
        self.running.finish()
    }
}

pub(crate) fn parsed(ended: &Ended) -> Output {
    Output::parse(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn own_sockets(ended: &Ended) -> Vec<Value> {
    let all = facts(ended, "sockets").into_iter().map(|mut one| one["socket"].take());
    all.filter(|socket| socket["addresses"].is_string()).collect()
}

pub(crate) fn facts(ended: &Ended, list: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(&ended.out).expect("a JSON document");
    document["plumb"][list].as_array().cloned().unwrap_or_else(|| panic!("no plumb.{list}: {document}"))
}

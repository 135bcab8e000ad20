//! What a server is once it listens: nobody, with a filter, and of full use to every client all the same.

use std::fs;

use plumb_tests::{Case, Sandbox};

use crate::{
    IPERF3, ROOT,
    alone::{alone, each},
    peer::{Running, await_listener, client_of, free_port},
    sandbox,
    sockperf::SOCKPERF,
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "a_server_of_root_becomes_nobody_under_a_filter_and_serves_every_client",
        needs: &[ROOT, IPERF3],
        test: || serves(&["server"], "65534", CLIENTS),
    },
    Case {
        name: "a_server_of_root_becomes_the_user_that_is_named",
        needs: &[ROOT, IPERF3],
        test: || serves(&["server", "--user", "12345"], "12345", &CLIENTS[..4]),
    },
    Case {
        name: "a_server_under_a_filter_serves_stock_sockperf_clients",
        needs: &[ROOT, SOCKPERF],
        test: || serves(&["server"], "65534", SOCKPERF_CLIENTS),
    },
    Case {
        name: "a_port_below_1024_is_served_over_tcp_and_udp_by_nobody",
        needs: &[ROOT, IPERF3],
        test: || alone(low_port),
    },
    Case { name: "a_server_says_whom_it_cannot_become", needs: &[ROOT], test: || alone(no_such_user) },
];

/// Without address and port; those that are only flags are stock iperf3's.
const CLIENTS: &[&str] = &[
    "-u -t 1 -R -P 3",
    "-t 1 --bidir",
    "ping -t 1",
    "client -u -t 1 -R",
    "client -t 1 --mode limit -P 2",
    "client -t 1 --mode limit -R",
    "client -u -t 1 --mode limit",
    "client -t 1 -C cubic -w 64K -S 0x10 --pin 0/0 --busy-poll",
    "client -t 1 --get-server-output",
    "ping -t 1 --connect",
    "ping -t 1 --tcp",
    "ping -t 1 --sockperf",
    "-t 1 -Z -R",
    "-t 1 --get-server-output -J",
];

const SOCKPERF_CLIENTS: &[&str] =
    &["sockperf ping-pong -t 1", "sockperf ping-pong -t 1 --tcp", "sockperf under-load -t 1 --mps 1000"];

fn serves(words: &'static [&'static str], uid: &'static str, clients: &'static [&'static str]) {
    let sandbox = sandbox();
    each(clients, |client| (*client).to_owned(), |client| serve_one(&sandbox, words, uid, client));
}

fn serve_one(sandbox: &Sandbox, words: &[&str], uid: &str, client: &str) {
    let port = free_port();
    let server = Running::start(sandbox.command(&[words, &["-p", &port.to_string()]].concat()));
    await_listener(port);
    let client_ended = client_of(sandbox, client, port).finish();
    let rights = rights(server.pid());
    server.signal("INT");
    let ended = server.finish();
    assert_eq!(client_ended.status, Some(0), "{client}: {client_ended:?}; the server: {ended:?}");
    assert_eq!(ended.status, Some(0), "{client}: {ended:?}");
    assert!(ended.out.lines().next().is_some_and(|line| line.contains("without capabilities")), "{ended:?}");
    assert!(!ended.err.contains("not in its filter"), "{client}: {ended:?}");
    let expected = [
        format!("Uid: {uid} {uid} {uid} {uid}"),
        format!("Gid: {uid} {uid} {uid} {uid}"),
        "Groups:".to_owned(),
        "CapPrm: 0000000000000000".to_owned(),
        "CapEff: 0000000000000000".to_owned(),
        "CapBnd: 0000000000000000".to_owned(),
        "NoNewPrivs: 1".to_owned(),
        "Seccomp: 2".to_owned(),
    ];
    for (thread, status) in rights {
        for line in &expected {
            assert!(status.contains(line), "thread {thread} lacks {line}: {status:?}");
        }
    }
}

/// What the kernel says of each thread.
fn rights(pid: u32) -> Vec<(String, Vec<String>)> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").filter_map(Result::ok);
    let status = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("status")).ok()?;
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        Some((thread.file_name().to_string_lossy().into_owned(), lines.collect()))
    };
    let all: Vec<_> = threads.filter_map(status).collect();
    assert!(!all.is_empty());
    all
}

fn low_port() {
    let sandbox = sandbox();
    let server = Running::start(sandbox.command(&["server", "-p", "701"]));
    await_listener(701);
    for client in ["client -t 1", "client -u -t 1 -R", "ping -t 1"] {
        let ended = client_of(&sandbox, client, 701).finish();
        assert_eq!(ended.status, Some(0), "{client}: {ended:?}");
    }
    server.signal("INT");
    assert_eq!(server.finish().status, Some(0));
}

fn no_such_user() {
    let ended = Running::start(sandbox().command(&["server", "--user", "no-such-user"])).finish();
    assert_eq!(ended.status, Some(64), "{ended:?}");
    assert!(ended.err.contains("no-such-user") && ended.err.contains("/etc/passwd"), "{ended:?}");
}

//! Tests that no other user can bind the server's UDP port before, while or after the server uses it for a
//! client.

use plumb_tests::{Case, Sandbox};

use crate::{
    IPERF3, ROOT,
    alone::{alone, each},
    other_user::{OtherUser, Work},
    peer::{Running, await_listener, client_of, free_port},
    sandbox,
    sockperf::SOCKPERF,
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "other_user_cannot_bind_the_udp_port_before_while_or_after_serving",
        needs: &[ROOT, IPERF3],
        test: || no_moment(CLIENTS),
    },
    Case {
        name: "other_user_cannot_bind_the_udp_port_while_serving_stock_sockperf",
        needs: &[ROOT, SOCKPERF],
        test: || no_moment(SOCKPERF_CLIENTS),
    },
    Case {
        name: "server_does_not_share_a_udp_port_bound_by_another_user",
        needs: &[ROOT],
        test: || alone(bound_before),
    },
];

type Places = (&'static [&'static str], &'static [&'static str]);

const PLACES: &[Places] = &[
    (&["-B", "127.0.0.1"], &["127.0.0.1", "0.0.0.0", "::"]),
    (&[], &["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"]),
];

const CLIENTS: &[&str] = &[
    "ping -t 1",
    "ping --sockperf -t 1",
    "client -u -t 1",
    "client -u -t 1 -R -P 3",
    "-u -t 1",
    "-u -t 1 -R",
    "-u -t 1 --bidir -P 4",
];

const SOCKPERF_CLIENTS: &[&str] = &["sockperf ping-pong -t 1", "sockperf under-load -t 1 --mps 1000"];

fn no_moment(clients: &[&str]) {
    let sandbox = sandbox();
    let rows: Vec<_> =
        PLACES.iter().flat_map(|places| clients.iter().map(move |client| (*places, *client))).collect();
    each(&rows, |row| format!("{row:?}"), |(places, client)| served(&sandbox, *places, client));
}

fn served(sandbox: &Sandbox, (listen, addresses): Places, client: &str) {
    let port = free_port();
    let server = start(sandbox, listen, port);
    await_listener(port);
    let other = OtherUser::start(Work::Try, port, addresses);
    let ended = client_of(sandbox, client, port).finish();
    assert_eq!(ended.status, Some(0), "{client}: {ended:?}");
    let tried = other.end();
    assert_eq!(tried.bound, "", "{client}: in {} rounds these were bound", tried.rounds);
    assert!(tried.rounds > 10, "{client}: {} rounds", tried.rounds);
    server.signal("INT");
    let ended = server.finish();
    assert_eq!(ended.status, Some(0), "{client}: {ended:?}");
}

fn bound_before() {
    let sandbox = sandbox();
    let port = free_port();
    let other = OtherUser::start(Work::Keep, port, &["127.0.0.1"]);
    for (listen, _) in PLACES {
        let ended = start(&sandbox, listen, port).finish();
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.err.contains(&format!(":{port} for UDP: Address in use")), "{}", ended.err);
        assert!(ended.err.contains("choose another with -p"), "{}", ended.err);
    }
    assert_ne!(other.end().bound, "", "the port was free");
}

fn start(sandbox: &Sandbox, listen: &[&str], port: u16) -> Running {
    let port = port.to_string();
    let words = [&["server", "-p", &port], listen].concat();
    Running::start(sandbox.command(&words))
}

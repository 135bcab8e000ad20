//! Stock `iperf3 -c` against `plumb server`.

use plumb_tests::{Case, Output as Ended, Sandbox};

use crate::{
    IPERF3, OPENSSL,
    alone::{alone, each},
    iperf3_client::{Keys, facts, parsed},
    peer::{Running, await_listener, dropped_by_full_buffers, free_port, iperf3},
    sandbox,
    tables::{Pair, ROWS, Row, SERVED, host},
};

pub(crate) const CASES: &[Case] = &[
    Case { name: "serves_stock_iperf3_client_with_every_option", needs: &[IPERF3], test: every_option },
    Case { name: "stock_iperf3_client_prints_its_usual_summary", needs: &[IPERF3], test: usual_summary },
    Case { name: "stock_iperf3_client_gets_errors_in_iperf3_s_words", needs: &[IPERF3], test: what_is_wrong },
    Case {
        name: "stock_iperf3_client_logs_in_and_a_wrong_password_is_refused",
        needs: &[IPERF3, OPENSSL],
        test: || alone(logging_in),
    },
    Case {
        name: "serves_several_stock_iperf3_clients_in_parallel_or_in_turn",
        needs: &[IPERF3],
        test: several_at_once,
    },
];

fn every_option() {
    let sandbox = sandbox();
    let rows: Vec<&Row> = ROWS.iter().chain(SERVED).collect();
    each(&rows, |row| row.flags.to_owned(), |row| check(&sandbox, row));
}

fn check(sandbox: &Sandbox, row: &Row) {
    let flags = row.flags.replace("PORT", &free_port().to_string());
    let server = Server::start(sandbox, &["-1", "-J"]);
    let ended = server.serve(&format!("{flags} -J"));
    let there = server.running.finish();
    assert_eq!(ended.status, Some(0), "{flags}: {ended:?}, server: {there:?}");
    assert_eq!(there.status, Some(0), "{flags}: {there:?}");
    let pair = Pair {
        client: parsed(&ended),
        server: parsed(&there),
        facts: facts(&there, "flows").into_iter().map(|mut flow| flow["socket"].take()).collect(),
        plumb_serves: true,
        dropped: dropped_by_full_buffers(),
        flags,
    };
    assert!(pair.client.error.is_none() && pair.server.error.is_none(), "{}: {there:?}", pair.flags);
    pair.agree();
    (row.proof)(&pair);
}

type Printed = (&'static str, &'static [&'static str]);

const PRINTED: &[Printed] = &[
    ("-t 1", &["Retr", "sender", "receiver", "iperf Done."]),
    ("-t 1 -R", &["Reverse mode", "sender", "receiver", "iperf Done."]),
    ("-t 1 -P 2", &["[SUM]", "iperf Done."]),
    ("-t 1 --bidir", &["[TX-C]", "[RX-C]", "iperf Done."]),
    ("-u -t 1", &["Jitter", "Lost/Total", "iperf Done."]),
    ("-u -t 1 -R", &["Jitter", "Lost/Total", "iperf Done."]),
    ("-t 1 --get-server-output", &["Server output:\n[", "receiver\n\n", "iperf Done."]),
];

fn usual_summary() {
    let sandbox = sandbox();
    each(
        PRINTED,
        |(flags, _)| (*flags).to_owned(),
        |(flags, parts)| {
            let server = Server::start(&sandbox, &["-1"]);
            let ended = server.serve(flags);
            let there = server.running.finish();
            assert_eq!((ended.status, there.status), (Some(0), Some(0)), "{flags}: {ended:?} {there:?}");
            assert!(ended.err.is_empty(), "{flags}: {}", ended.err);
            for part in *parts {
                assert!(ended.out.contains(part), "{flags}: no `{part}` in:\n{}", ended.out);
            }
        },
    );
}

type Limited = (&'static [&'static str], &'static str, &'static str);

const LIMITED: &[Limited] = &[
    (&["--max-rate", "10M"], "-t 1 -b 100M", "total required bandwidth is larger than server limit"),
    (&["--max-duration", "1"], "-t 5", ""),
    (&["--max-bytes", "1M"], "-n 100M", ""),
    (&["--allow", "198.18.0.0/15"], "-t 1", ""),
];

fn what_is_wrong() {
    each(
        LIMITED,
        |(limits, ..)| format!("{limits:?}"),
        |(limits, flags, printed)| {
            let sandbox = sandbox();
            let server = Server::start(&sandbox, limits);
            let ended = server.serve(flags);
            assert_eq!(ended.status, Some(1), "{limits:?} {flags}: {ended:?}");
            assert!(format!("{}{}", ended.out, ended.err).contains(printed), "{limits:?} {flags}: {ended:?}");
            server.stays(&sandbox);
        },
    );
    alone(busy);
}

fn busy() {
    let server = Server::start(&sandbox(), &["--max-clients", "1"]);
    let first = server.client("-t 3");
    server.running.await_word("#1 ");
    let second = server.serve("-t 1");
    assert_eq!(second.status, Some(1), "{second:?}");
    assert!(second.err.contains("the server is busy running a test. try again later"), "{second:?}");
    assert_eq!(first.finish().status, Some(0));
}

fn logging_in() {
    let sandbox = sandbox();
    let keys = Keys::make(&sandbox);
    let server = Server::start(&sandbox, &keys.of_server());
    for (password, status) in [("secret", 0), ("wrong", 1), ("secret", 0)] {
        let mut command =
            iperf3(&["-c", "127.0.0.1", "-p", &server.port, "-t", "1", "--username", "somebody"]);
        command.args(["--rsa-public-key-path", &keys.public]).env("IPERF3_PASSWORD", password);
        let ended = Running::start(command).finish();
        assert_eq!(ended.status, Some(status), "{password}: {ended:?}");
        assert_eq!(ended.err.contains("test authorization failed"), status == 1, "{password}: {ended:?}");
    }
    assert_eq!(server.serve("-t 1").status, Some(1), "without a name");
}

fn several_at_once() {
    each(
        &[(&[][..], false), (&["--queue"], true)],
        |(flags, _)| format!("{flags:?}"),
        |(flags, first_ends_before)| several(flags, *first_ends_before),
    );
}

fn several(flags: &[&str], first_ends_before: bool) {
    let server = Server::start(&sandbox(), flags);
    let clients: Vec<Running> = (0..3).map(|_| server.client("-t 2 -b 20M")).collect();
    for client in clients {
        let ended = client.finish();
        assert_eq!(ended.status, Some(0), "{flags:?}: {ended:?}");
    }
    server.running.signal("INT");
    let printed = server.running.finish();
    assert_eq!(printed.status, Some(0), "{printed:?}");
    let place =
        |part: &str| printed.out.find(part).unwrap_or_else(|| panic!("no `{part}` in:\n{}", printed.out));
    let (ends, begins) = (printed.out.find(" received ").expect("one ended"), place("#2 "));
    let _ = place("#3 ");
    assert_eq!(ends < begins, first_ends_before, "{flags:?}:\n{}", printed.out);
}

struct Server {
    port: String,
    running: Running,
}

impl Server {
    fn start(sandbox: &Sandbox, flags: &[&str]) -> Self {
        let port = free_port();
        let words = port.to_string();
        let running = Running::start(sandbox.command(&[&["server", "-p", &words], flags].concat()));
        await_listener(port);
        Self { port: words, running }
    }

    fn client(&self, flags: &str) -> Running {
        let words = ["-c", host(flags), "-p", &self.port].into_iter().chain(flags.split_whitespace());
        Running::start(iperf3(&words.collect::<Vec<_>>()))
    }

    fn serve(&self, flags: &str) -> Ended {
        self.client(flags).finish()
    }

    fn stays(self, sandbox: &Sandbox) {
        let again = sandbox.plumb(&["client", "127.0.0.1", "-p", &self.port, "-n", "1K"]);
        assert_ne!(again.status, Some(64), "{again:?}");
        self.running.signal("INT");
        let ended = self.running.finish();
        assert_eq!(ended.status, Some(0), "{ended:?}");
    }
}

//! Tests that a listening server runs as `nobody` under a seccomp filter and still serves every client.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use plumb_tests::{Case, Need, Sandbox, wait_until};
use sys::confine::{Call, calls};

use crate::{
    IPERF3, ROOT,
    alone::{alone, each},
    peer::{PATIENCE, Running, await_listener, client_of, free_port},
    sandbox,
    sockperf::SOCKPERF,
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "root_server_becomes_nobody_under_a_filter_and_serves_every_client",
        needs: &[ROOT, IPERF3],
        test: || serves(&["server"], "65534", CLIENTS),
    },
    Case {
        name: "root_server_becomes_the_named_user",
        needs: &[ROOT, IPERF3],
        test: || serves(&["server", "--user", "12345"], "12345", &CLIENTS[..4]),
    },
    Case {
        name: "filtered_server_serves_stock_sockperf_clients",
        needs: &[ROOT, SOCKPERF],
        test: || serves(&["server"], "65534", SOCKPERF_CLIENTS),
    },
    Case {
        name: "filtered_server_uses_every_allowed_call",
        needs: &[ROOT, IPERF3, SOCKPERF, Need::Program("strace", "strace")],
        test: || alone(every_call),
    },
    Case {
        name: "serves_a_port_below_1024_over_tcp_and_udp_as_nobody",
        needs: &[ROOT, IPERF3],
        test: || alone(low_port),
    },
    Case {
        name: "server_exits_with_the_reason_when_its_helper_is_killed",
        needs: &[ROOT],
        test: || alone(killed_helper),
    },
    Case {
        name: "client_names_the_setting_that_limits_a_confined_servers_congestion_control",
        needs: &[ROOT],
        test: || alone(congestion),
    },
    Case {
        name: "server_names_the_user_that_it_cannot_become",
        needs: &[ROOT],
        test: || alone(no_such_user),
    },
];

fn congestion() {
    let list = |name: &str| {
        let list = fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{name}_congestion_control"));
        list.expect("every kernel has it").split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (available, allowed) = (list("available"), list("allowed"));
    let sandbox = sandbox();
    for name in &available {
        let port = free_port();
        let server = Running::start(sandbox.command(&["server", "-p", &port.to_string()]));
        await_listener(port);
        let ended = client_of(&sandbox, &format!("client -t 1 -R -C {name}"), port).finish();
        server.signal("INT");
        let hinted = server.finish().err;
        assert_eq!(hinted.contains("clients may choose"), !available.is_subset(&allowed), "{hinted}");
        let names_setting = ended.err.contains("net.ipv4.tcp_allowed_congestion_control");
        let is_allowed = allowed.contains(name);
        assert_eq!((ended.status == Some(0), names_setting), (is_allowed, !is_allowed), "{name}: {ended:?}");
    }
}

/// Entries with only flags are for stock iperf3. The caller adds the address and port.
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

const MORE_CLIENTS: &[&str] =
    &["-t 1 -6", "-u -t 1 -6 -R", "client -u -t 1 --mode limit -R", "client -n 10M -R"];

type Words = &'static [&'static str];

/// Flags of the server, its clients, and refused clients. If the server prints JSON, the test checks the server's
/// output file.
const TRACED: [(Words, &[Words], Words); 2] = [
    (&[], &[CLIENTS, SOCKPERF_CLIENTS, MORE_CLIENTS], &[]),
    (&["-J", "--max-rate", "10M"], &[SOCKPERF_CLIENTS], &["-t 1 -b 100M"]),
];

fn every_call() {
    let sandbox = sandbox();
    let files = TRACED.map(|(flags, clients, refused)| traced(&sandbox, flags, [&clients.concat(), refused]));
    wait_until(PATIENCE, || unused(&files).is_empty());
    assert_eq!(unused(&files), Vec::<String>::new(), "allowed but never made");
}

fn traced(sandbox: &Sandbox, flags: &[&str], [served, refused]: [&[&str]; 2]) -> PathBuf {
    let port = free_port();
    let file = sandbox.home().join(format!("calls-{port}"));
    let server = sandbox.command(&[&["server", "-p", &port.to_string()], flags].concat());
    let mut strace = Command::new("strace");
    // Runs strace as the grandchild, so that the server's PID is known.
    strace.args(["-D", "-f", "-qq", "-n", "-X", "raw", "-o"]).arg(&file);
    strace.arg(server.get_program()).args(server.get_args());
    for (name, value) in server.get_envs() {
        strace.env(name, value.unwrap_or_default());
    }
    let server = Running::start(strace);
    await_listener(port);
    for (clients, status) in [(served, 0), (refused, 1)] {
        for client in clients {
            let ended = client_of(sandbox, client, port).finish();
            assert_eq!(ended.status, Some(status), "{client}: {ended:?}");
        }
    }
    server.signal("INT");
    let ended = server.finish();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    file
}

fn unused(files: &[PathBuf]) -> Vec<String> {
    let texts = files.iter().map(|file| fs::read_to_string(file).unwrap_or_default());
    let made: BTreeSet<(i64, Vec<u64>)> = texts.flat_map(|text| filtered_calls(&text)).collect();
    let is_made = |number: i64, fits: &dyn Fn(&[u64]) -> bool| {
        made.iter().any(|(made, arguments)| *made == number && fits(arguments))
    };
    let rules = server::allowed_calls().into_iter().filter(|rule| !calls::RARE.contains(rule));
    let parts = rules.flat_map(|rule| match rule {
        Call::Any(number) => vec![(format!("call {number}"), is_made(number, &|_| true))],
        Call::Bit(number, argument, bits) => {
            let fits = |arguments: &[u64]| arguments[argument as usize] & u64::from(bits) != 0;
            vec![(format!("call {number} with {bits:#x}"), is_made(number, &fits))]
        }
        Call::With(number, argument, values) => {
            let with = |value: &u32| {
                let fits = |arguments: &[u64]| arguments.get(argument as usize) == Some(&u64::from(*value));
                (format!("call {number} with {value:#x}"), is_made(number, &fits))
            };
            values.iter().map(with).collect()
        }
    });
    parts.filter(|(_, is_made)| !is_made).map(|(part, _)| part).collect()
}

fn filtered_calls(text: &str) -> BTreeSet<(i64, Vec<u64>)> {
    let (mut free, mut filtered, mut made) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (process, name, number, arguments) in text.lines().filter_map(traced_call) {
        if name == "seccomp" {
            filtered.insert(process);
        } else if filtered.contains(process) || (!filtered.is_empty() && !free.contains(process)) {
            filtered.insert(process);
            made.insert((number, arguments));
        } else {
            free.insert(process);
        }
    }
    made
}

/// Parses the process, name, number and numeric arguments of a line like `4711 [  41] socket(0x2, 0x80002, 0) = 3`.
/// Returns `None` for the second part of an interrupted call.
fn traced_call(line: &str) -> Option<(&str, &str, i64, Vec<u64>)> {
    let (process, rest) = line.split_once(' ')?;
    let (number, call) = rest.trim_start().strip_prefix('[')?.split_once("] ")?;
    let (name, arguments) = call.split_once('(').filter(|(name, _)| !name.starts_with('<'))?;
    let mut parsed = Vec::new();
    for word in arguments.split([',', ')', ' ']).filter(|word| !word.is_empty()) {
        match word.strip_prefix("flags=") {
            // strace prints the flags of clone(2) after the stack.
            Some(flags) => parsed.insert(0, number_of(flags)),
            None => parsed.push(word.split('|').fold(0, |all, part| all | number_of(part))),
        }
    }
    Some((process, name, number.trim().parse().ok()?, parsed))
}

fn number_of(text: &str) -> u64 {
    let number =
        text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    number.unwrap_or_default()
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

fn killed_helper() {
    let sandbox = sandbox();
    for (signal, client) in [("KILL", None), ("TERM", Some("ping -t 60")), ("SEGV", Some("client -t 60"))] {
        let port = free_port();
        let server = Running::start(sandbox.command(&["server", "-p", &port.to_string()]));
        await_listener(port);
        let client = client.map(|client| client_of(&sandbox, client, port));
        if client.is_some() {
            server.await_word("#1 ");
        }
        let pid = server.pid();
        // The kernel may omit children while processes start or exit (proc(5)).
        let mut helper: Option<u32> = None;
        let is_found = || {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("it runs");
            helper = children.trim().parse().ok();
            helper.is_some()
        };
        assert!(wait_until(PATIENCE, is_found), "one helper");
        plumb_tests::signal(helper.expect("it was found"), signal);
        let ended = server.finish();
        assert_eq!(ended.status, Some(1), "{signal}: {ended:?}");
        let reason = "the UDP port holder has ended; start the server again";
        assert!(ended.err.contains(reason), "{signal}: {ended:?}");
        drop(client.map(Running::finish));
    }
}

fn no_such_user() {
    let ended = Running::start(sandbox().command(&["server", "--user", "no-such-user"])).finish();
    assert_eq!(ended.status, Some(64), "{ended:?}");
    assert!(ended.err.contains("no-such-user") && ended.err.contains("/etc/passwd"), "{ended:?}");
}

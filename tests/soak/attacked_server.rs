//! Runs a server as root for half an hour with honest and hostile clients.

use std::{
    fs,
    net::SocketAddrV4,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use plumb_tests::{Output, ProcessGuard, Sandbox, attack, wait_until};
use serde_json::Value;
use sys::netns::NetNs;

use crate::{rounds, sandbox};

const PORT: u16 = 5201;
const RATE: u32 = 1000;
const HALF_AN_HOUR: usize = 30;
const PAUSE: Duration = Duration::from_secs(2);
/// The maximum difference in memory use between thirds of the test, in bytes. Each served address has its own budget.
const ROOM: f64 = (32 << 20) as f64;

struct Look {
    memory: f64,
    descriptors: f64,
    threads: f64,
    median: f64,
    high: f64,
}

type Field = (&'static str, f64, &'static str, fn(&Look) -> f64);
const FIELDS: [Field; 5] = [
    ("memory", (1 << 20) as f64, "MiB", |look| look.memory),
    ("descriptors", 1.0, "", |look| look.descriptors),
    ("threads", 1.0, "", |look| look.threads),
    ("median round trip", 1e3, "us", |look| look.median),
    ("99 % of round trips", 1e3, "us", |look| look.high),
];

pub(crate) fn half_an_hour() {
    let (sandbox, lasts) = (sandbox(), Duration::from_secs(60 * rounds(HALF_AN_HOUR) as u64));
    let [server, clients] = ["a server", "clients"].map(|name| NetNs::create(name).expect("a network"));
    raise(&server, &clients);
    let process = server.run_in(|| serve(&sandbox)).expect("enters");
    let pid = process.0.id();
    let quiet = clients.run_in(|| look(&sandbox, pid)).expect("enters");
    let to = SocketAddrV4::new([198, 18, 0, 1].into(), PORT);
    let hostile = {
        let clients = clients.try_clone().expect("a descriptor");
        thread::spawn(move || clients.run_in(|| attack(to, RATE, lasts)).expect("enters").expect("sockets"))
    };
    let looks = clients.run_in(|| honest(&sandbox, pid, lasts)).expect("enters");
    let made = hostile.join().expect("it does not panic");
    println!("  {made} hostile connections, {} times four honest clients, none refused", looks.len());
    for field in FIELDS {
        draw(field, &looks);
    }
    let worst = |part: &[Look], of: fn(&Look) -> f64| part.iter().map(of).fold(0.0, f64::max);
    let third = looks.len() / 3;
    let (first, last) = (&looks[..third], &looks[looks.len() - third..]);
    assert!(worst(last, |look| look.memory) < worst(first, |look| look.memory) + ROOM, "memory grows");
    for (what, _, _, of) in &FIELDS[1..3] {
        assert!(worst(last, *of) < 1.5 * worst(first, *of) + 50.0, "{what} grow");
    }
    let as_before = || look(&sandbox, pid).descriptors < quiet.descriptors + 50.0;
    assert!(
        clients.run_in(|| wait_until(Duration::from_secs(60), as_before)).expect("enters"),
        "all connections are closed"
    );
}

fn raise(server: &NetNs, clients: &NetNs) {
    let there = plumb_tests::path_of(server);
    let mut script =
        format!("ip link add eth0 type veth peer name eth0 netns {there}; ip link set eth0 up\n");
    script += "ip addr add 198.18.0.2/16 dev eth0\n";
    for number in 0..plumb_tests::SOURCES {
        script += &format!("ip addr add {}/16 dev eth0\n", plumb_tests::source(number));
    }
    shell(clients, &script);
    shell(server, "ip addr add 198.18.0.1/16 dev eth0; ip link set eth0 up");
}

fn shell(ns: &NetNs, script: &str) {
    let output =
        ns.run_in(|| Command::new("sh").args(["-ec", script]).output()).expect("enters").expect("sh");
    assert!(output.status.success(), "{script}: {output:?}");
}

fn serve(sandbox: &Sandbox) -> ProcessGuard {
    let mut command = sandbox.command(&["server", "-p", &PORT.to_string()]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("plumb was built");
    let listens = || {
        let table = fs::read_to_string("/proc/thread-self/net/tcp").expect("procfs");
        table.contains(&format!(":{PORT:04X} 00000000:0000 0A"))
    };
    assert!(wait_until(Duration::from_secs(20), listens), "it listens");
    ProcessGuard(child)
}

fn honest(sandbox: &Sandbox, pid: u32, lasts: Duration) -> Vec<Look> {
    let begun = Instant::now();
    let mut looks = Vec::new();
    while begun.elapsed() < lasts {
        let port = PORT.to_string();
        let stock = |program: &str, words: &[&str]| {
            let output = Command::new(program).args(words).stdin(Stdio::null()).output();
            let output = Output::from(output.expect("it is installed"));
            assert_eq!(output.status, Some(0), "{program} after {:?}: {output:?}", begun.elapsed());
        };
        stock("iperf3", &["-c", "198.18.0.1", "-p", &port, "-t", "1"]);
        stock("sockperf", &["ping-pong", "-i", "198.18.0.1", "-p", &port, "--tcp", "-t", "1"]);
        let _ = sandbox.succeed(&["client", "198.18.0.1", "-t", "1", "--no-keep"]);
        looks.push(look(sandbox, pid));
        thread::sleep(PAUSE);
    }
    looks
}

fn look(sandbox: &Sandbox, pid: u32) -> Look {
    let ping =
        sandbox.succeed(&["ping", "198.18.0.1", "-t", "1", "--warmup", "100ms", "--json", "--no-keep"]);
    let document: Value = serde_json::from_str(&ping.out).expect("JSON");
    let times = &document["outcome"]["round_trips"];
    let percentiles = times["percentiles"].as_array().expect("a list");
    let at = |share: f64| {
        let found = percentiles.iter().find(|pair| pair[0].as_f64() == Some(share));
        found.and_then(|pair| pair[1].as_f64()).unwrap_or_else(|| panic!("{share} in {times}"))
    };
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).expect("it runs");
    let pages: f64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    let count = |of: &str| fs::read_dir(format!("/proc/{pid}/{of}")).expect("it runs").count() as f64;
    Look {
        memory: pages * 4096.0,
        descriptors: count("fd"),
        threads: count("task"),
        median: at(0.5),
        high: at(0.99),
    }
}

fn draw((what, unit, word, of): Field, looks: &[Look]) {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<f64> = looks.iter().map(|look| of(look) / unit).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let each = values.chunks(values.len().div_ceil(60).max(1));
    let bar = |part: &[f64]| {
        let value = part.iter().copied().fold(0.0, f64::max);
        BARS[((value / most.max(f64::MIN_POSITIVE) * 7.0).round() as usize).min(7)]
    };
    println!("  {what:<20} {}  {least:.1} to {most:.1} {word}", each.map(bar).collect::<String>());
}

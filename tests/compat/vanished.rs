//! Cuts the path to a client without RST, FIN or ICMP.

use std::{fs, process::Command, thread, time::Duration};

use plumb_tests::{Case, Need, Sandbox, path_of, wait_until};
use sys::netns::NetNs;

use crate::{
    IPERF3,
    alone::{alone, each},
    peer::{PATIENCE, Running, await_listener, iperf3, of_network},
    sandbox,
};

pub(crate) const IP: Need = Need::Program("ip", "iproute2");
const TC: Need = Need::Program("tc", "iproute2");

pub(crate) const CASES: &[Case] = &[
    Case { name: "server_stops_sending_to_a_client_behind_a_cut_path", needs: &[IPERF3, IP], test: vanished },
    Case {
        name: "serves_a_client_behind_a_very_lossy_path_to_the_end",
        needs: &[IPERF3, IP, TC],
        test: || alone(overloaded),
    },
    Case { name: "measures_a_stream_whose_end_is_lost_for_seconds", needs: &[IP], test: interrupted },
];

type Row = (&'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    ("--idle-timeout 3", "-u -R -b 20M -t 600", "3.00 s"),
    ("--idle-timeout 60", "-u -R -b 20M -t 600", "10.0 s"),
    ("", "-u -R -b 20M -P 2 -t 600", "10.0 s"),
    ("--idle-timeout 3", "-u --bidir -b 10M -t 600", "3.00 s"),
    ("--idle-timeout 3", "-R -b 20M -t 600", "3.00 s"),
    ("--idle-timeout 3", "--bidir -b 10M -t 600", "3.00 s"),
    ("--idle-timeout 3", "client -u -R -b 20M -t 600", "3.00 s"),
    ("--idle-timeout 3", "client -u -R -b 20M -t 600 --mode limit", "3.00 s"),
];

const PORT: &str = "5201";
/// A finished test sends far fewer packets than this within [`WHILE`].
const MANY: u64 = 200;
const WHILE: Duration = Duration::from_secs(1);

fn vanished() {
    let sandbox = sandbox();
    each(ROWS, |row| format!("{row:?}"), |row| cut(&sandbox, row));
}

fn cut(sandbox: &Sandbox, (of_server, of_client, patience): &Row) {
    let path = Path::create();
    let server = path.serve(sandbox, of_server);
    let client = path.client(sandbox, of_client);
    let begun = path.sent();
    assert!(wait_until(PATIENCE, || path.sent() > begun + MANY), "{of_client}: nothing flows");
    path.cut();
    let cut = path.sent();
    server.await_word(&format!("waited {patience} for a keepalive reply"));
    let ended = path.sent();
    if of_client.contains("-u") {
        assert!(ended > cut + MANY, "{of_client}: the server kept sending for a while: {cut} {ended}");
    }
    thread::sleep(WHILE);
    let afterwards = path.sent();
    assert!(afterwards < ended + MANY / 4, "{of_client}: it has stopped: {cut} {ended} {afterwards}");
    drop(client);
    server.signal("INT");
    let ended = server.finish();
    assert_eq!(ended.status, Some(0), "{of_client}: {ended:?}");
}

fn overloaded() {
    let sandbox = sandbox();
    let path = Path::create();
    path.limit("2mbit");
    let server = path.serve(&sandbox, "--idle-timeout 3");
    let ended = path.client(&sandbox, "-u -R -b 80M -t 12").finish();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    server.signal("INT");
    let ended = server.finish();
    assert!(ended.out.contains(" sent "), "{ended:?}");
}

fn interrupted() {
    let sandbox = sandbox();
    let path = Path::create();
    let _server = path.serve(&sandbox, "");
    let client = path.client(&sandbox, "client -t 1 --no-keep");
    let begun = path.sent();
    assert!(wait_until(PATIENCE, || path.sent() > begun + MANY), "nothing flows");
    path.cut();
    thread::sleep(Duration::from_secs(8));
    path.forward("1");
    let ended = client.finish();
    assert_eq!(ended.status, Some(0), "{ended:?}");
}

struct Path {
    server: NetNs,
    router: NetNs,
    client: NetNs,
}

impl Path {
    fn create() -> Self {
        let [router, server, client] =
            ["a router", "a server", "a client"].map(|name| NetNs::create(name).expect("a network"));
        ip(&router, &format!("link add to-server type veth peer name eth0 netns {}", path_of(&server)));
        ip(&router, &format!("link add to-client type veth peer name eth0 netns {}", path_of(&client)));
        let ends = [(&server, "to-server", "198.18.0"), (&client, "to-client", "198.18.1")];
        for (end, device, net) in ends {
            ip(&router, &format!("addr add {net}.1/24 dev {device}"));
            ip(&router, &format!("link set {device} up"));
            ip(end, &format!("addr add {net}.2/24 dev eth0"));
            ip(end, "link set eth0 up");
            ip(end, &format!("route add default via {net}.1"));
        }
        let path = Self { server, router, client };
        path.forward("1");
        path
    }

    fn cut(&self) {
        self.forward("0");
    }

    fn forward(&self, word: &str) {
        let write = || fs::write("/proc/sys/net/ipv4/ip_forward", word);
        self.router.run_in(write).expect("enters").expect("root of its namespace");
    }

    /// Limits the direction towards the client. The queue limit is in packets.
    fn limit(&self, rate: &str) {
        let add = "tc qdisc add dev to-client";
        run(&self.router, &format!("{add} root handle 1: tbf rate {rate} burst 5kb latency 1s"));
        run(&self.router, &format!("{add} parent 1:1 pfifo limit 10"));
    }

    fn sent(&self) -> u64 {
        let devices = self.router.run_in(|| of_network("dev")).expect("enters");
        let device = devices.lines().find_map(|line| line.trim_start().strip_prefix("to-server:"));
        let packets = device.and_then(|counts| counts.split_whitespace().nth(1));
        packets.and_then(|packets| packets.parse().ok()).expect("a device has a receive counter")
    }

    fn serve(&self, sandbox: &Sandbox, flags: &str) -> Running {
        let words: Vec<_> = ["server", "-p", PORT].into_iter().chain(flags.split_whitespace()).collect();
        let start = || {
            let running = Running::start(sandbox.command(&words));
            await_listener(PORT.parse().expect("a port"));
            running
        };
        self.server.run_in(start).expect("enters")
    }

    fn client(&self, sandbox: &Sandbox, flags: &str) -> Running {
        let words: Vec<_> = flags.split_whitespace().collect();
        let place = "198.18.0.2";
        let command = match words[0] {
            flag if flag.starts_with('-') => iperf3(&[&["-c", place, "-p", PORT], &words[..]].concat()),
            command => sandbox.command(&[&[command, place, "-p", PORT], &words[1..]].concat()),
        };
        self.client.run_in(|| Running::start(command)).expect("enters")
    }
}

pub(crate) fn ip(ns: &NetNs, words: &str) {
    run(ns, &format!("ip {words}"));
}

fn run(ns: &NetNs, line: &str) {
    let (program, words) = line.split_once(' ').expect("a program and words");
    let run = || Command::new(program).args(words.split_whitespace()).output();
    let ended = ns.run_in(run).expect("enters").expect("the process can be waited for");
    assert!(ended.status.success(), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
}

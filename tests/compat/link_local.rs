//! Tests clients that reach a link-local IPv6 address of a server through a given device.

use plumb_tests::{Case, Need, Sandbox, path_of};
use sys::netns::NetNs;

use crate::{
    IPERF3,
    alone::each,
    peer::{Running, await_listener, iperf3},
    sandbox,
    vanished::{IP, ip},
};

pub(crate) const CASES: &[Case] = &[Case {
    name: "reaches_a_link_local_address_through_the_given_device",
    needs: &[IPV6, IP, IPERF3],
    test: reached,
}];

const IPV6: Need = Need::File("/proc/net/if_inet6", "a kernel with IPv6");
const PORT: &str = "5201";
const SERVER: &str = "fe80::1%eth0";

const ROWS: &[(&str, &str)] = &[
    ("server", "client -t 1"),
    ("server", "client -u -t 1 -R -P 2"),
    ("server", "ping -t 1"),
    ("server", "ping --tcp -t 1"),
    ("server", "ping --sockperf -t 1"),
    ("server", "-t 1 --bidir"),
    ("server", "-u -t 1"),
    ("-s", "client -u -t 1"),
];

fn reached() {
    let sandbox = sandbox();
    each(ROWS, |row| format!("{row:?}"), |row| reach(&sandbox, row));
}

fn reach(sandbox: &Sandbox, (server, client): &(&str, &str)) {
    let [here, there] = ["a client", "a server"].map(|name| NetNs::create(name).expect("a network"));
    ip(&here, &format!("link add eth0 type veth peer name eth0 netns {}", path_of(&there)));
    for (host, address) in [(&there, "fe80::1"), (&here, "fe80::2")] {
        ip(host, "link set eth0 addrgenmode none");
        ip(host, &format!("addr add {address}/64 dev eth0 nodad"));
        ip(host, "link set eth0 up");
    }
    let start = |words: &[&str]| match words[0] {
        flag if flag.starts_with('-') => Running::start(iperf3(words)),
        _ => Running::start(sandbox.command(words)),
    };
    let serve = || {
        let running = start(&[server, "-p", PORT]);
        await_listener(PORT.parse().expect("a port"));
        running
    };
    let _server = there.run_in(serve).expect("enters");
    let flags: Vec<_> = client.split_whitespace().collect();
    let words = match flags[0] {
        flag if flag.starts_with('-') => [&["-c", SERVER, "-p", PORT], &flags[..]].concat(),
        command => [&[command, SERVER, "-p", PORT, "--no-keep"], &flags[1..]].concat(),
    };
    let ended = here.run_in(|| start(&words)).expect("enters").finish();
    assert_eq!(ended.status, Some(0), "{client}: {ended:?}");
}

//! Tests the counters of devices and hosts.

use std::{
    net::{SocketAddr, ToSocketAddrs, UdpSocket},
    process::Command,
};

use crate::support::{can_create_namespaces, converse, device, egress_gateway, is_whole, wire, wire_of};
use samples::{DeviceCounters, HostCounters, PathCounters};
use scenario::HostName;
use topology::Topology;

fn around(topology: &Topology, at: &str, work: impl FnOnce()) -> [DeviceCounters; 2] {
    let read = || topology.reading(&[device(at)]).expect("the device exists").devices.remove(0);
    let before = read();
    work();
    [before, read()]
}

#[test]
fn counts_traffic_at_both_ends_of_a_wire() {
    if !can_create_namespaces("counts_traffic_at_both_ends_of_a_wire") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let both = [device("b:eth0"), device("a:eth0")];
    let before = topology.reading(&both).unwrap();
    converse(&topology, "a", "b", "198.18.0.2");
    let after = topology.reading(&both).unwrap();
    let passed = |at: usize| {
        let (then, now) = (&before.devices[at], &after.devices[at]);
        (now.tx_packets - then.tx_packets, now.rx_packets - then.rx_packets)
    };
    assert_eq!(after.devices[0].device, both[0].to_string(), "in the requested order");
    assert!(passed(0).0 > 2 && passed(0).1 > 2, "{:?}", passed(0));
    assert_eq!(passed(0), (passed(1).1, passed(1).0), "received equals sent at the other end");
    assert_eq!(after.devices[0].qdisc.as_ref().map(|qdisc| qdisc.kind.as_str()), Some("noqueue"));
    let is_plain = |host: &HostCounters| host.translated.is_none() && !host.has_refused();
    assert!(after.hosts.iter().all(is_plain), "no NAT here: {:?}", after.hosts);
    assert!(topology.reading(&[device("a:eth9")]).is_err(), "no such device");
}

#[test]
fn counts_drops_of_rate_limit() {
    if !can_create_namespaces("counts_drops_of_rate_limit") {
        return;
    }
    let mut lab = wire();
    wire_of(&mut lab).rate = Some(units::BitRate(1e6));
    let topology = Topology::create(&lab).unwrap();
    if !is_whole(&topology, "counts_drops_of_rate_limit") {
        return;
    }
    let send = || {
        let socket = UdpSocket::bind("198.18.0.1:0").unwrap();
        // Send far more than the bucket holds. Sends that fail for lack of space also count as drops.
        (0..2000).for_each(|_| _ = socket.send_to(&[0; 1400], "198.18.0.2:9"));
    };
    let [before, after] = around(&topology, "a:eth0", || {
        topology.namespace(&HostName::new("a")).unwrap().run_in(send).unwrap();
    });
    let (before, after) = (before.qdisc.unwrap(), after.qdisc.unwrap());
    assert_eq!((before.kind.as_str(), before.drops), ("tbf", 0));
    assert!(after.drops > 100 && after.overlimits > 0, "{after:?}");
}

#[test]
#[expect(clippy::disallowed_macros, reason = "reports a skipped test")]
fn reads_rate_limits_of_packet_filters() {
    if !can_create_namespaces("reads_rate_limits_of_packet_filters") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let over = "limit rate over 1000000 bytes/second";
    let ingress = "netdev p { chain c { type filter hook ingress device eth0";
    let forward = "inet p { chain c { type filter hook forward";
    let input = "inet p { chain c { type filter hook input";
    // `wanted` is (`leaving`, `uncounted`).
    for (chain, rules, wanted) in [
        (ingress, format!("{over} drop"), Some((false, true))),
        (ingress, format!("{over} counter drop"), Some((false, false))),
        (ingress, format!("counter {over} drop"), Some((false, true))),
        ("ip p { chain c { type filter hook output", format!("{over} drop"), Some((true, true))),
        (forward, format!("oifname eth0 {over} counter drop"), Some((true, false))),
        (input, format!("{over} counter drop; limit rate over 100 kbytes/second drop"), Some((false, false))),
        (
            input,
            format!("limit rate over 2 mbytes/second counter drop; {over} counter drop"),
            Some((false, false)),
        ),
        (
            "netdev p { chain c { type filter hook ingress devices = { lo, eth0 }",
            format!("{over} drop"),
            Some((false, true)),
        ),
        (input, format!("iif eth0 {over} drop"), Some((false, true))),
        (forward, format!("iifname eth0 oifname other {over} counter drop"), Some((false, false))),
        (input, format!("iif lo {over} drop"), None),
        (input, format!("tcp dport 22 {over} counter drop"), Some((false, false))),
        (input, format!("tcp dport 22 {over} drop"), None),
        (input, "limit rate over 60000000 bytes/minute counter drop".to_owned(), Some((false, false))),
        (input, "limit rate over 60000000 bytes/minute drop".to_owned(), None),
        (input, format!("{over} burst 99999 bytes drop"), Some((false, true))),
        (input, format!("{over} burst 1000000 bytes drop"), None),
        (input, format!("iifname other {over} drop"), None),
        (input, format!("iifname != other {over} drop"), None),
        (input, format!("iifname {{ lo, eth0 }} {over} drop"), None),
        (input, format!("iifname \"eth*\" {over} drop"), None),
        (
            "inet p { chain d { limit rate over 1 mbytes/second drop; }; chain c { type filter hook input",
            "accept".to_owned(),
            None,
        ),
        ("arp p { chain c { type filter hook input", format!("{over} drop"), None),
        (input, format!("{over} accept"), None),
        (input, "limit rate over 10/second drop".to_owned(), None),
    ] {
        let nft = || {
            Command::new("nft")
                .arg(format!("flush ruleset; table {chain} priority 0; {rules}; }}; }}"))
                .status()
        };
        let Ok(status) = topology.namespace(&HostName::new("a")).unwrap().run_in(nft).unwrap() else {
            println!("skipped: reads_rate_limits_of_packet_filters: needs nft");
            return;
        };
        assert!(status.success(), "{chain}: {rules}");
        let policer = topology.reading(&[device("a:eth0")]).unwrap().devices[0].policer;
        let found = policer.map(|it| (it.bits_per_second, it.leaving, it.uncounted));
        assert_eq!(
            found,
            wanted.map(|(leaving, uncounted)| (8_000_000, leaving, uncounted)),
            "{chain}: {rules}"
        );
    }
}

#[test]
fn counts_connections_of_nat_host() {
    if !can_create_namespaces("counts_connections_of_nat_host") {
        return;
    }
    let topology = Topology::create(&egress_gateway()).unwrap();
    let leaves = topology.devices().map(|known| known.at).collect::<Vec<_>>();
    let before = topology.reading(&leaves).unwrap();
    converse(&topology, "pod", "target", "198.18.2.2");
    let after = topology.reading(&leaves).unwrap();
    let gateways = |reading: &PathCounters| -> Vec<HostCounters> {
        reading.hosts.iter().filter(|host| host.translated.is_some()).cloned().collect()
    };
    let ([then], [host]) = (&gateways(&before)[..], &gateways(&after)[..]) else {
        panic!("one gateway: {:?}", after.hosts)
    };
    assert_eq!((then.translated, host.translated), (Some(0), Some(1)));
    assert!(host.tracked.is_some_and(|tracked| tracked > 0), "{host:?}");
    let elsewhere = topology.reading(&[device("node:vx")]).unwrap();
    assert_eq!(gateways(&elsewhere), [], "that path does not use the gateway");
}

#[test]
fn identifies_devices_by_namespace_and_index() {
    if !can_create_namespaces("identifies_devices_by_namespace_and_index") {
        return;
    }
    let topology = Topology::create(&egress_gateway()).unwrap();
    for known in topology.devices() {
        let namespace = topology.namespace(&known.at.host).unwrap();
        assert_eq!(namespace.inode(), known.namespace);
        let index = namespace.run_in(|| index_of(known.at.device.as_str())).unwrap();
        assert_eq!(index, known.index, "{}", known.at);
    }
    assert!(topology.devices().count() >= 8);
}

fn index_of(device: &str) -> u32 {
    let address = format!("fe80::1%{device}");
    match (address.as_str(), 0).to_socket_addrs().expect("the device exists").next() {
        Some(SocketAddr::V6(address)) => address.scope_id(),
        other => panic!("{other:?}"),
    }
}

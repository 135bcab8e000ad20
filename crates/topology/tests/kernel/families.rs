//! Tests labs that have IPv4 and IPv6 addresses.

use std::{
    io::{BufRead, BufReader, Read},
    net::{IpAddr, UdpSocket},
    process::{Command, Stdio},
};

use crate::support::{
    bridge_with_guests, can_create_namespaces, converse, egress_gateway, ip, is_whole, macvlans, overlay,
    wire,
};
use scenario::{Family, HostName, Lab, Scenario, link::Forwarding};
use topology::Topology;

fn in_both(lab: Lab) -> Option<Topology> {
    if !can_create_namespaces("families") {
        return None;
    }
    let topology = Topology::create(&Lab { second_family: Some(Family::Ipv6), ..lab }).expect("a valid lab");
    is_whole(&topology, "families").then_some(topology)
}

#[test]
fn hosts_reach_each_other_in_both_families() {
    for (lab, [from, to], address) in [
        (wire(), ["a", "b"], "198.18.0.2"),
        (bridge_with_guests(3), ["g0", "g2"], "198.18.0.12"),
        (macvlans(), ["a", "b"], "198.18.1.2"),
        (overlay(Forwarding::Unicast), ["g1", "g2"], "198.18.1.2"),
        (overlay(Forwarding::Learning), ["g1", "g2"], "198.18.1.2"),
    ] {
        let Some(topology) = in_both(lab) else { continue };
        let peer = converse(&topology, from, to, address);
        assert_eq!(
            converse(&topology, from, to, &format!("2001:2::{address}")),
            ip(&format!("2001:2::{peer}"))
        );
    }
}

#[test]
fn target_sees_egress_address_in_both_families() {
    let Some(topology) = in_both(egress_gateway()) else { return };
    assert_eq!(converse(&topology, "pod", "target", "2001:2::198.18.2.2"), ip("2001:2::198.18.2.100"));
    assert_eq!(converse(&topology, "pod", "target", "198.18.2.2"), ip("198.18.2.100"));
    let device = "egress:eth1".parse().unwrap();
    let counted = topology.reading(&[device]).unwrap();
    assert_eq!(counted.hosts[0].translated, Some(2), "one packet of each connection passes the rules");
}

/// Packets as large as a device's computed MTU must exactly fill the frames on the wire.
#[test]
fn computed_overhead_equals_that_of_captured_frames() {
    if !can_create_namespaces("computed_overhead_equals_that_of_captured_frames") {
        return;
    }
    let ethertypes = ["ethertype IPv4 (0x0800)", "ethertype IPv6 (0x86dd)"];
    for underlay in [Family::Ipv4, Family::Ipv6] {
        let text = LINKS.replace("UNDERLAY", underlay.word());
        let lab = Scenario::parse("links", &text).expect("valid").lab;
        let topology = Topology::create(&lab).unwrap();
        assert_eq!(topology.missing(), []);
        for inner in [Family::Ipv4, Family::Ipv6] {
            for (device, to, network) in SENDERS {
                let mtu = lab.mtu(&device.parse().unwrap(), &lab.devices).unwrap();
                let ends = [1, 2].map(|end| inner.address(ip(&format!("{network}.{end}"))).unwrap());
                let payload = (mtu - inner.header() - 8) as usize;
                let Some(captured) = captured(&topology, to, ends, payload) else { return };
                let case = format!("{device}, {inner:?}, {underlay:?}: {captured}");
                assert!(captured.contains("length 1514:"), "Ethernet 14 and the wire's MTU of 1500: {case}");
                let (outside, inside) = captured.split_once("VXLAN").unwrap_or((&captured, &captured));
                assert_eq!(outside.len() < captured.len(), device == "left:vx", "{case}");
                let outer = if device == "left:vx" { underlay } else { inner };
                assert!(outside.contains(ethertypes[outer as usize]), "{case}");
                assert!(inside.contains(ethertypes[inner as usize]), "{case}");
                assert!(inside.contains(&format!("length {}:", mtu + 14)), "{case}");
            }
        }
    }
}

fn captured(topology: &Topology, at: &str, [from, to]: [IpAddr; 2], payload: usize) -> Option<String> {
    let filter = "udp and (port 4789 or port 9) and greater 1400";
    let words = ["-i", "eth0", "-nn", "-e", "-l", "-c", "1", filter];
    let start = || Command::new("tcpdump").args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut tcpdump =
        topology.namespace(&HostName::new(at)).expect("a namespace").run_in(start).expect("it runs").ok()?;
    let mut started = BufReader::new(tcpdump.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(started.any(|line| line.contains("listening on")));
    let send = || UdpSocket::bind((from, 0)).and_then(|socket| socket.send_to(&vec![0; payload], (to, 9)));
    topology
        .namespace(&HostName::new("left"))
        .expect("a namespace")
        .run_in(send)
        .expect("it runs")
        .expect("a route");
    let mut printed = String::new();
    tcpdump.stdout.take().expect("a pipe").read_to_string(&mut printed).expect("text");
    tcpdump.wait().expect("it ends");
    Some(printed)
}

const SENDERS: [(&str, &str, &str); 4] = [
    ("left:eth0", "right", "198.18.1"),
    ("left:mv-left", "right", "198.18.3"),
    ("left:br0", "inside", "198.18.4"),
    ("left:vx", "right", "198.18.2"),
];

const LINKS: &str = r#"
schema = 1
name = "links"
title = "Each kind of link"
family = ["ipv4", "ipv6"]

[hosts.left]
[hosts.right]

[wires.wire]
between = ["left:eth0", "right:eth0"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]

[macvlans.mv-left]
host = "left"
over = "eth0"
address = "198.18.3.1/24"

[macvlans.mv-right]
host = "right"
over = "eth0"
address = "198.18.3.2/24"

[bridges.br0]
host = "left"
address = "198.18.4.1/24"

[guests.inside]
bridge = "br0"
address = "198.18.4.2/24"

[vxlans.vx]
vni = 7
underlay = "UNDERLAY"

[vxlans.vx.members.left]
over = "eth0"
address = "198.18.2.1/24"

[vxlans.vx.members.right]
over = "eth0"
address = "198.18.2.2/24"

[paths.tunnel]
from = "left:vx"
to = "right:vx"
layers = ["vxlan", "wire"]
baseline = true

[workloads.w]
kind = "stream"
"#;

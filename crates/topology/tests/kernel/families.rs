//! Tests labs that have IPv4 and IPv6 addresses.

use std::{
    io::{BufRead, BufReader, Read},
    net::UdpSocket,
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

/// The MTU that a scenario computes for a tunnel must fill the wire exactly.
#[test]
fn computed_overhead_equals_that_of_captured_frames() {
    if !can_create_namespaces("computed_overhead_equals_that_of_captured_frames") {
        return;
    }
    let capture = |topology: &Topology| {
        let words = ["-i", "eth0", "-nn", "-e", "-l", "-c", "1", "udp port 4789 and greater 1400"];
        let command =
            || Command::new("tcpdump").args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        topology.namespace(&HostName::new("right")).unwrap().run_in(command).unwrap()
    };
    let ethertypes = ["ethertype IPv4 (0x0800)", "ethertype IPv6 (0x86dd)"];
    for underlay in [Family::Ipv4, Family::Ipv6] {
        for inner in [Family::Ipv4, Family::Ipv6] {
            let text = TUNNEL.replace("UNDERLAY", underlay.word());
            let lab = Scenario::parse("tunnel", &text).expect("valid").lab;
            let topology = Topology::create(&lab).unwrap();
            assert_eq!(topology.missing(), []);
            let tunnel = "left:vx".parse().unwrap();
            let mtu = lab.mtu(&tunnel, &lab.devices).unwrap();
            let Ok(mut tcpdump) = capture(&topology) else { return };
            let mut started = BufReader::new(tcpdump.stderr.take().unwrap()).lines().map_while(Result::ok);
            assert!(started.any(|line| line.contains("listening on")));
            let [from, to] = ["198.18.2.1", "198.18.2.2"].map(|text| inner.address(ip(text)).unwrap());
            let payload = vec![0; (mtu - inner.header() - 8) as usize];
            let send = || UdpSocket::bind((from, 0)).and_then(|socket| socket.send_to(&payload, (to, 9)));
            topology.namespace(&HostName::new("left")).unwrap().run_in(send).unwrap().expect("a route");
            let mut captured = String::new();
            tcpdump.stdout.take().unwrap().read_to_string(&mut captured).unwrap();
            tcpdump.wait().unwrap();
            let case = format!("{inner:?} in {underlay:?}: {captured}");
            assert!(captured.contains("length 1514:"), "Ethernet 14 and the wire's MTU of 1500: {case}");
            let (outside, inside) = captured.split_once("VXLAN").expect(&case);
            assert!(outside.contains(ethertypes[underlay as usize]), "{case}");
            assert!(inside.contains(ethertypes[inner as usize]), "{case}");
            assert!(inside.contains(&format!("length {}:", mtu + 14)), "{case}");
        }
    }
}

const TUNNEL: &str = r#"
schema = 1
name = "tunnel"
title = "A tunnel"
family = ["ipv4", "ipv6"]

[hosts.left]
[hosts.right]

[wires.wire]
between = ["left:eth0", "right:eth0"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]

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

//! Tests the order of points on a route.

use std::net::IpAddr;

use workload::Transport::{Tcp, Udp};

use super::*;

pub(super) const WIRE: [&str; 10] = [
    "client-sends",
    "queued a:eth0",
    "transmitted a:eth0",
    "received b:eth0",
    "server-receives",
    "server-sends",
    "queued b:eth0",
    "transmitted b:eth0",
    "received a:eth0",
    "client-receives",
];

const OVERLAY: [&str; 28] = [
    "client-sends",
    "queued g1:eth0",
    "transmitted g1:eth0",
    "received hv1:g1",
    "queued hv1:vx100",
    "transmitted hv1:vx100",
    "queued hv1:eth0",
    "transmitted hv1:eth0",
    "received hv2:eth0",
    "received hv2:vx100",
    "queued hv2:g2",
    "transmitted hv2:g2",
    "received g2:eth0",
    "server-receives",
    "server-sends",
    "queued g2:eth0",
    "transmitted g2:eth0",
    "received hv2:g2",
    "queued hv2:vx100",
    "transmitted hv2:vx100",
    "queued hv2:eth0",
    "transmitted hv2:eth0",
    "received hv1:eth0",
    "received hv1:vx100",
    "queued hv1:g1",
    "transmitted hv1:g1",
    "received g1:eth0",
    "client-receives",
];

const GATEWAY: [&str; 16] = [
    "client-sends",
    "queued pod:eth0",
    "transmitted pod:eth0",
    "received node:pod0",
    "queued node:eth1",
    "transmitted node:eth1",
    "received target:eth0",
    "server-receives",
    "server-sends",
    "queued target:eth0",
    "transmitted target:eth0",
    "received node:eth1",
    "queued node:pod0",
    "transmitted node:pod0",
    "received pod:eth0",
    "client-receives",
];

pub(super) fn check(
    probe: &mut LatencyBreakdownProbe,
    lab: &Lab,
    ends: [&str; 2],
    play: &Play,
    expected: &[&str],
) {
    let latency_breakdown = follow(probe, lab, ends, play);
    assert_eq!(points(&latency_breakdown), expected);
    assert_eq!(
        (latency_breakdown.every, latency_breakdown.followed + latency_breakdown.not_followed),
        (play.every, u64::from(play.messages / play.every))
    );
    assert!(
        latency_breakdown.followed > 9 * latency_breakdown.not_followed,
        "{} took the route, {} did not",
        latency_breakdown.followed,
        latency_breakdown.not_followed
    );
    assert_eq!(latency_breakdown.round_trip.count(), latency_breakdown.followed);
    assert!(latency_breakdown.steps.iter().all(|step| step.times.count() == latency_breakdown.followed));
}

#[test]
fn messages_of_any_size_pass_a_veth_pair_in_order() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    for transport in [Udp, Tcp] {
        for length in [1, 4, 9, 64, 1400, 4000, 40_000] {
            check(&mut probe, &lab, ["a", "b"], &Play::new(transport, length, [198, 18, 1, 2]), &WIRE);
        }
    }
}

#[test]
fn follows_message_inside_a_tunnel() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::overlay("198.18.1.")) else { return };
    for transport in [Udp, Tcp] {
        for length in [64, 10_000] {
            check(&mut probe, &lab, ["g1", "g2"], &Play::new(transport, length, [198, 18, 64, 2]), &OVERLAY);
        }
    }
}

#[test]
fn follows_ipv6_messages() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::wire()) else { return };
    let server: IpAddr = "2001:2:0:1::2".parse().unwrap();
    for transport in [Udp, Tcp] {
        for length in [1, 64, 4000, 40_000] {
            check(&mut probe, &lab, ["a", "b"], &Play::new(transport, length, server), &WIRE);
        }
    }
}

#[test]
fn follows_message_inside_a_tunnel_over_ipv6() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::overlay("2001:2:0:1::")) else { return };
    for server in ["198.18.64.2", "2001:2:0:40::2"] {
        let server: IpAddr = server.parse().unwrap();
        check(&mut probe, &lab, ["g1", "g2"], &Play::new(Tcp, 10_000, server), &OVERLAY);
    }
}

#[test]
fn follows_message_through_source_nat() {
    let (Some(mut probe), Some(lab)) = (probe_here(), labs::gateway()) else { return };
    for transport in [Udp, Tcp] {
        check(&mut probe, &lab, ["pod", "target"], &Play::new(transport, 64, [198, 18, 2, 2]), &GATEWAY);
    }
}

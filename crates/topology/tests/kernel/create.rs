//! What a raised lab is, by the kernel's own evidence.

use crate::support::{
    bridge_with_guests, can_raise, converse, device, egress_gateway, ip, is_whole, macvlans, overlay, vlans,
    wire, wire_of,
};
use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::{Duration, Instant},
};

use samples::DeviceCounters;
use scenario::{DeviceRef, HostName, Link, link::Forwarding};
use topology::Topology;

#[test]
fn two_hosts_on_a_wire_answer_each_other() {
    if !can_raise("two_hosts_on_a_wire_answer_each_other") {
        return;
    }
    let topology = Topology::raise(&wire()).unwrap();
    assert_eq!(topology.missing(), []);
    assert_eq!(converse(&topology, "a", "b", "198.18.0.2"), ip("198.18.0.1"));
    assert_eq!(converse(&topology, "b", "a", "198.18.0.1"), ip("198.18.0.2"));
}

#[test]
fn guests_on_a_bridge_answer_each_other_and_their_host() {
    if !can_raise("guests_on_a_bridge_answer_each_other_and_their_host") {
        return;
    }
    let topology = Topology::raise(&bridge_with_guests(3)).unwrap();
    converse(&topology, "g0", "g2", "198.18.0.12");
    converse(&topology, "g1", "hv", "198.18.0.1");
}

#[test]
fn an_overlay_carries_tcp_between_guests_with_learning_and_without() {
    if !can_raise("an_overlay_carries_tcp_between_guests_with_learning_and_without") {
        return;
    }
    for forwarding in [Forwarding::Learning, Forwarding::Unicast] {
        let topology = Topology::raise(&overlay(forwarding)).unwrap();
        assert_eq!(topology.missing(), []);
        converse(&topology, "g1", "g2", "198.18.1.2");
        let all = ["hv1:vx", "hv1:br0", "hv1:eth0"].map(device);
        let states = topology.device_states(&all).unwrap();
        assert_eq!(states[0].kind, "vxlan");
        let counted = topology.reading(&all).unwrap().devices;
        assert!(counted[0].tx_packets > 0, "nothing went through the tunnel: {counted:?}");
        assert_eq!(states.iter().map(|state| state.mtu).collect::<Vec<_>>(), [1450, 1450, 1500]);
    }
}

/// An answer alone proves nothing: the devices under them could have answered.
#[test]
fn packets_between_macvlans_pass_both_of_them() {
    if !can_raise("packets_between_macvlans_pass_both_of_them") {
        return;
    }
    let topology = Topology::raise(&macvlans()).unwrap();
    if !is_whole(&topology, "packets_between_macvlans_pass_both_of_them") {
        return;
    }
    assert_eq!(converse(&topology, "a", "b", "198.18.1.2"), ip("198.18.1.1"));
    let both = [device("a:mv-a"), device("b:mv-b")];
    for state in topology.device_states(&both).unwrap() {
        assert_eq!((state.kind.as_str(), state.mtu), ("macvlan", 1500));
    }
    assert_passed(&topology, &both);
}

/// Not every kernel has VLANs.
#[test]
fn packets_pass_the_devices_of_a_vlan_or_those_are_missing_and_the_wire_stands() {
    if !can_raise("packets_pass_the_devices_of_a_vlan_or_those_are_missing_and_the_wire_stands") {
        return;
    }
    let topology = Topology::raise(&vlans()).unwrap();
    converse(&topology, "a", "b", "198.18.0.2");
    let both = [device("a:v10-a"), device("b:v10-b")];
    if let [first, second] = topology.missing() {
        assert_eq!([&first.devices[..], &second.devices[..]], [&both[..1], &both[1..]]);
        let text = first.to_string();
        assert!(text.starts_with("vlan `v10-a`: cannot make vlan device `a:v10-a`: "), "{text}");
        return;
    }
    assert_eq!(topology.missing(), []);
    assert_eq!(converse(&topology, "a", "b", "198.18.1.2"), ip("198.18.1.1"));
    assert_passed(&topology, &both);
}

/// A conversation passed each of the devices, both ways.
fn assert_passed(topology: &Topology, devices: &[DeviceRef]) {
    let counted = topology.reading(devices).expect("counters of devices that stand can be read").devices;
    assert_eq!(counted.len(), devices.len());
    for DeviceCounters { device, rx_packets, tx_packets, .. } in counted {
        assert!(rx_packets > 3 && tx_packets > 3, "{device}: {rx_packets} in, {tx_packets} out");
    }
}

#[test]
fn the_target_behind_a_gateway_sees_the_egress_address() {
    if !can_raise("the_target_behind_a_gateway_sees_the_egress_address") {
        return;
    }
    let topology = Topology::raise(&egress_gateway()).unwrap();
    assert_eq!(topology.missing(), []);
    assert_eq!(converse(&topology, "pod", "target", "198.18.2.2"), ip("198.18.2.100"));
    let tunnel = topology.reading(&[device("node:vx")]).unwrap().devices;
    assert!(tunnel[0].tx_packets > 0, "the gateway's traffic did not enter the tunnel");
}

#[test]
fn two_labs_with_the_same_addresses_stand_side_by_side() {
    if !can_raise("two_labs_with_the_same_addresses_stand_side_by_side") {
        return;
    }
    let raise = || Topology::raise(&wire()).unwrap();
    let labs = std::thread::scope(|scope| {
        let threads = [scope.spawn(raise), scope.spawn(raise)];
        threads.map(|thread| thread.join().unwrap())
    });
    for lab in &labs {
        converse(lab, "a", "b", "198.18.0.2");
    }
    let inode = |lab: &Topology| lab.namespace(&HostName::new("a")).unwrap().inode();
    assert_ne!(inode(&labs[0]), inode(&labs[1]));
}

#[test]
fn a_rate_limit_holds_and_lets_the_rate_pass() {
    if !can_raise("a_rate_limit_holds_and_lets_the_rate_pass") {
        return;
    }
    let mut lab = wire();
    wire_of(&mut lab).rate = Some(units::BitRate(80e6));
    let topology = Topology::raise(&lab).unwrap();
    if !is_whole(&topology, "a_rate_limit_holds_and_lets_the_rate_pass") {
        return;
    }
    // 4 MB at 10 MB/s, less the bucket's 128 KiB. A machine with other work may take long, but not five times.
    let least = Duration::from_millis(380);
    let quick = |elapsed: &Duration| {
        assert!(*elapsed >= least, "{elapsed:?}");
        *elapsed < 5 * least
    };
    assert!((0..5).map(|_| carried(&topology, 4_000_000)).any(|elapsed| quick(&elapsed)));
}

/// How long so many bytes take over the wire.
fn carried(topology: &Topology, bytes: usize) -> Duration {
    let inside = |host: &str| topology.namespace(&HostName::new(host)).expect("the wire carries it");
    let listener = inside("b")
        .run_in(|| TcpListener::bind("198.18.0.2:0").expect("the wire carries it"))
        .expect("the wire carries it");
    let address = listener.local_addr().expect("the wire carries it");
    let mut client = inside("a")
        .run_in(|| TcpStream::connect(address).expect("the wire carries it"))
        .expect("the wire carries it");
    let (mut server, _) = listener.accept().expect("the wire carries it");
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || client.write_all(&vec![0; bytes]).expect("the wire carries it"));
        server.read_exact(&mut vec![0; bytes]).expect("the wire carries it");
    });
    begin.elapsed()
}

#[test]
fn no_device_but_lo_has_an_ipv6_address_to_speak_by_itself() {
    if !can_raise("no_device_but_lo_has_an_ipv6_address_to_speak_by_itself") {
        return;
    }
    let topology = Topology::raise(&overlay(Forwarding::Unicast)).unwrap();
    for (host, namespace) in topology.namespaces() {
        let read = || std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
        let addresses = namespace.run_in(read).unwrap();
        assert!(addresses.lines().all(|line| line.ends_with(" lo")), "{host}: {addresses}");
    }
}

#[test]
fn a_name_that_the_kernel_does_not_take_is_told_with_its_host_and_the_kernels_words() {
    if !can_raise("a_name_that_the_kernel_does_not_take_is_told_with_its_host_and_the_kernels_words") {
        return;
    }
    let mut lab = wire();
    wire_of(&mut lab).ends[0].at = device("a:longer-than-15-bytes");
    let Err(error) = Topology::raise(&lab) else { panic!("the kernel has no such names") };
    let text = error.to_string();
    for part in ["link `wire`", "a:longer-than-15-bytes", "make the veth pair"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_tunnel_that_is_larger_than_its_underlay_is_told_and_not_silently_smaller() {
    if !can_raise("a_tunnel_that_is_larger_than_its_underlay_is_told_and_not_silently_smaller") {
        return;
    }
    let mut lab = overlay(Forwarding::Unicast);
    let Some(Link::Vxlan(overlay)) = lab.links.last_mut() else { panic!("the overlay comes last") };
    overlay.mtu = 1500;
    let Err(error) = Topology::raise(&lab) else { panic!("1500 bytes do not fit a tunnel over 1500") };
    assert!(error.to_string().contains("MTU") && error.to_string().contains(":vx"), "{error}");
}

//! Creates labs and verifies them with traffic and counters.

use crate::support::{
    bridge_with_guests, can_create_namespaces, converse, device, egress_gateway, ip, is_whole, macvlans,
    overlay, tunnel, vlans, wire, wire_of,
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
fn connects_two_hosts_over_a_wire() {
    if !can_create_namespaces("connects_two_hosts_over_a_wire") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    assert_eq!(topology.missing(), []);
    assert_eq!(converse(&topology, "a", "b", "198.18.0.2"), ip("198.18.0.1"));
    assert_eq!(converse(&topology, "b", "a", "198.18.0.1"), ip("198.18.0.2"));
}

#[test]
fn connects_guests_on_a_bridge() {
    if !can_create_namespaces("connects_guests_on_a_bridge") {
        return;
    }
    let topology = Topology::create(&bridge_with_guests(3)).unwrap();
    converse(&topology, "g0", "g2", "198.18.0.12");
    converse(&topology, "g1", "hv", "198.18.0.1");
}

#[test]
fn overlay_carries_tcp_with_and_without_learning() {
    if !can_create_namespaces("overlay_carries_tcp_with_and_without_learning") {
        return;
    }
    for forwarding in [Forwarding::Learning, Forwarding::Unicast] {
        let topology = Topology::create(&overlay(forwarding)).unwrap();
        assert_eq!(topology.missing(), []);
        converse(&topology, "g1", "g2", "198.18.1.2");
        let all = ["hv1:vx", "hv1:br0", "hv1:eth0"].map(device);
        let states = topology.device_states(&all).unwrap();
        assert_eq!(states[0].kind, "vxlan");
        let counted = topology.reading(&all).unwrap().devices;
        assert!(counted[0].tx_packets > 0, "no traffic in the tunnel: {counted:?}");
        assert_eq!(states.iter().map(|state| state.mtu).collect::<Vec<_>>(), [1450, 1450, 1500]);
    }
}

/// Getting a reply is not enough, because the underlying devices could have sent it.
#[test]
fn packets_pass_macvlans() {
    if !can_create_namespaces("packets_pass_macvlans") {
        return;
    }
    let topology = Topology::create(&macvlans()).unwrap();
    if !is_whole(&topology, "packets_pass_macvlans") {
        return;
    }
    assert_eq!(converse(&topology, "a", "b", "198.18.1.2"), ip("198.18.1.1"));
    let both = [device("a:mv-a"), device("b:mv-b")];
    for state in topology.device_states(&both).unwrap() {
        assert_eq!((state.kind.as_str(), state.mtu), ("macvlan", 1500));
    }
    assert_passed(&topology, &both);
}

#[test]
fn packets_pass_vlans_if_supported() {
    if !can_create_namespaces("packets_pass_vlans_if_supported") {
        return;
    }
    let topology = Topology::create(&vlans()).unwrap();
    converse(&topology, "a", "b", "198.18.0.2");
    let both = [device("a:v10-a"), device("b:v10-b")];
    if let [first, second] = topology.missing() {
        assert_eq!([&first.devices[..], &second.devices[..]], [&both[..1], &both[1..]]);
        let text = first.to_string();
        assert!(text.starts_with("vlan `v10-a`: cannot create VLAN device `a:v10-a`: "), "{text}");
        return;
    }
    assert_eq!(topology.missing(), []);
    assert_eq!(converse(&topology, "a", "b", "198.18.1.2"), ip("198.18.1.1"));
    assert_passed(&topology, &both);
}

#[test]
fn packets_pass_tunnels_if_supported() {
    use scenario::link::Encapsulation::{Esp, Geneve, Gre, Gretap, Wireguard};
    if !can_create_namespaces("packets_pass_tunnels_if_supported") {
        return;
    }
    let both = [device("a:t0"), device("b:t0")];
    for encapsulation in [Geneve, Gre, Gretap, Wireguard, Esp] {
        let topology = Topology::create(&tunnel(encapsulation)).unwrap();
        converse(&topology, "a", "b", "198.18.0.2");
        if let [missing] = topology.missing() {
            assert_eq!(missing.devices, both);
            let word = encapsulation.word();
            let text = missing.to_string();
            assert!(text.starts_with(&format!("{word} `t0`: cannot create {word} `a:t0`: ")), "{text}");
            continue;
        }
        assert_eq!(topology.missing(), []);
        assert_eq!(converse(&topology, "a", "b", "198.18.1.2"), ip("198.18.1.1"));
        assert_passed(&topology, &both);
    }
}

fn assert_passed(topology: &Topology, devices: &[DeviceRef]) {
    let counted = topology.reading(devices).expect("counters of existing devices can be read").devices;
    assert_eq!(counted.len(), devices.len());
    for DeviceCounters { device, rx_packets, tx_packets, .. } in counted {
        assert!(rx_packets > 3 && tx_packets > 3, "{device}: {rx_packets} in, {tx_packets} out");
    }
}

#[test]
fn target_sees_egress_address() {
    if !can_create_namespaces("target_sees_egress_address") {
        return;
    }
    let topology = Topology::create(&egress_gateway()).unwrap();
    assert_eq!(topology.missing(), []);
    assert_eq!(converse(&topology, "pod", "target", "198.18.2.2"), ip("198.18.2.100"));
    let tunnel = topology.reading(&[device("node:vx")]).unwrap().devices;
    assert!(tunnel[0].tx_packets > 0, "the gateway's traffic did not enter the tunnel");
}

#[test]
fn two_labs_can_use_the_same_addresses() {
    if !can_create_namespaces("two_labs_can_use_the_same_addresses") {
        return;
    }
    let create = || Topology::create(&wire()).unwrap();
    let labs = std::thread::scope(|scope| {
        let threads = [scope.spawn(create), scope.spawn(create)];
        threads.map(|thread| thread.join().unwrap())
    });
    for lab in &labs {
        converse(lab, "a", "b", "198.18.0.2");
    }
    let inode = |lab: &Topology| lab.namespace(&HostName::new("a")).unwrap().inode();
    assert_ne!(inode(&labs[0]), inode(&labs[1]));
}

#[test]
fn enforces_rate_limit() {
    if !can_create_namespaces("enforces_rate_limit") {
        return;
    }
    let mut lab = wire();
    wire_of(&mut lab).rate = Some(units::BitRate(80e6));
    let topology = Topology::create(&lab).unwrap();
    if !is_whole(&topology, "enforces_rate_limit") {
        return;
    }
    // The time to send 4 MB at 10 MB/s, minus the bucket of 128 KiB. A busy machine may be up to five times
    // slower.
    let least = Duration::from_millis(380);
    let quick = |elapsed: &Duration| {
        assert!(*elapsed >= least, "{elapsed:?}");
        *elapsed < 5 * least
    };
    assert!((0..5).map(|_| transfer_time(&topology, 4_000_000)).any(|elapsed| quick(&elapsed)));
}

fn transfer_time(topology: &Topology, bytes: usize) -> Duration {
    let inside = |host: &str| topology.namespace(&HostName::new(host)).expect("the wire works");
    let listener = inside("b")
        .run_in(|| TcpListener::bind("198.18.0.2:0").expect("the wire works"))
        .expect("the wire works");
    let address = listener.local_addr().expect("the wire works");
    let mut client =
        inside("a").run_in(|| TcpStream::connect(address).expect("the wire works")).expect("the wire works");
    let (mut server, _) = listener.accept().expect("the wire works");
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || client.write_all(&vec![0; bytes]).expect("the wire works"));
        server.read_exact(&mut vec![0; bytes]).expect("the wire works");
    });
    start.elapsed()
}

#[test]
fn only_loopback_has_an_ipv6_address() {
    if !can_create_namespaces("only_loopback_has_an_ipv6_address") {
        return;
    }
    let topology = Topology::create(&overlay(Forwarding::Unicast)).unwrap();
    for (host, namespace) in topology.namespaces() {
        let read = || std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
        let addresses = namespace.run_in(read).unwrap();
        assert!(addresses.lines().all(|line| line.ends_with(" lo")), "{host}: {addresses}");
    }
}

#[test]
fn reports_invalid_device_name() {
    if !can_create_namespaces("reports_invalid_device_name") {
        return;
    }
    let mut lab = wire();
    wire_of(&mut lab).ends[0].at = device("a:longer-than-15-bytes");
    let Err(error) = Topology::create(&lab) else { panic!("the kernel does not allow such names") };
    let text = error.to_string();
    for part in ["link `wire`", "a:longer-than-15-bytes", "create the veth pair"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn reports_tunnel_larger_than_underlay() {
    if !can_create_namespaces("reports_tunnel_larger_than_underlay") {
        return;
    }
    let mut lab = overlay(Forwarding::Unicast);
    let Some(Link::Vxlan(overlay)) = lab.links.last_mut() else { panic!("the overlay comes last") };
    overlay.mtu = 1500;
    let Err(error) = Topology::create(&lab) else { panic!("1500 bytes do not fit a tunnel over 1500") };
    assert!(error.to_string().contains("MTU") && error.to_string().contains(":vx"), "{error}");
}

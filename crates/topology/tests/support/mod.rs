//! Hand-written labs, and test traffic through them.
#![expect(clippy::disallowed_macros, reason = "reports a skipped test")]

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use ipnet::IpNet;
use scenario::{
    DeviceName, DeviceRef, Gateway, Host, HostKind, HostName, Lab, Link, Route,
    link::{Bridge, Encapsulation, Forwarding, LinkEnd, Macvlan, Tunnel, TunnelEnd, Vlan, Vxlan, Wire},
};
use sys::netns::NetNs;
use topology::Topology;

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn can_create_namespaces(test: &str) -> bool {
    if sys::userns::has_net_admin() {
        return true;
    }
    println!("skipped: {test}: needs root, or root in a user namespace");
    false
}

pub(crate) fn is_whole(topology: &Topology, test: &str) -> bool {
    for missing in topology.missing() {
        println!("skipped: {test}: {missing}");
    }
    topology.missing().is_empty()
}

pub(crate) fn device(text: &str) -> DeviceRef {
    text.parse().expect("the test's device name is valid")
}

pub(crate) fn net(text: &str) -> IpNet {
    text.parse().expect("the test's address is valid")
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().expect("the test's address is valid")
}

pub(crate) fn empty() -> Lab {
    Lab::default()
}

pub(crate) fn host(name: &str, forwards: bool) -> Host {
    Host { forwards, ..Host::new(name, HostKind::Host) }
}

pub(crate) fn end(at: &str, address: Option<&str>) -> LinkEnd {
    LinkEnd::new(device(at), address.map(net))
}

pub(crate) fn link(name: &str, ends: [LinkEnd; 2], mtu: u32) -> Link {
    Wire::new(name, ends, mtu).into()
}

pub(crate) fn bridge(name: &str, at: &str, ports: &[&str], address: Option<&str>, mtu: u32) -> Link {
    let ports = ports.iter().map(|port| DeviceName::new(*port)).collect();
    Bridge { address: address.map(net), ..Bridge::new(name, device(at), ports, mtu) }.into()
}

pub(crate) fn wire_of(lab: &mut Lab) -> &mut Wire {
    match lab.links.first_mut() {
        Some(Link::Wire(wire)) => wire,
        other => panic!("no wire: {other:?}"),
    }
}

pub(crate) fn route(host: &str, to: &str, via: &str) -> Route {
    Route { host: HostName::new(host), to: net(to), via: ip(via) }
}

pub(crate) fn wire() -> Lab {
    Lab {
        hosts: vec![host("a", false), host("b", false)],
        links: vec![link(
            "wire",
            [end("a:eth0", Some("198.18.0.1/30")), end("b:eth0", Some("198.18.0.2/30"))],
            1500,
        )],
        ..empty()
    }
}

pub(crate) fn macvlans() -> Lab {
    let macvlan = |host: &str, address: &str| Macvlan {
        name: format!("mv-{host}"),
        at: DeviceRef::new(host, format!("mv-{host}")),
        over: DeviceName::new("eth0"),
        address: net(address),
        mtu: 1500,
    };
    let mut lab = wire();
    lab.links.extend([("a", "198.18.1.1/24"), ("b", "198.18.1.2/24")].map(|(h, to)| macvlan(h, to).into()));
    lab
}

pub(crate) fn vlans() -> Lab {
    let vlan = |host: &str, address: &str| Vlan {
        name: format!("v10-{host}"),
        at: DeviceRef::new(host, format!("v10-{host}")),
        over: DeviceName::new("eth0"),
        id: 10,
        address: Some(net(address)),
        mtu: 1500,
    };
    let mut lab = wire();
    lab.links.extend([("a", "198.18.1.1/24"), ("b", "198.18.1.2/24")].map(|(h, to)| vlan(h, to).into()));
    lab
}

pub(crate) fn tunnel(encapsulation: Encapsulation) -> Lab {
    let end = |host: &str, local, address| TunnelEnd {
        at: DeviceRef::new(host, "t0"),
        underlay: DeviceName::new("eth0"),
        local: ip(local),
        address: Some(net(address)),
        existing: false,
    };
    let ends = vec![end("a", "198.18.0.1", "198.18.1.1/24"), end("b", "198.18.0.2", "198.18.1.2/24")];
    let (id, port, mtu) = (Some(1000), Some(6081), 1400);
    let mut lab = wire();
    lab.links.push(Tunnel { name: "t0".into(), encapsulation, id, port, spi: None, mtu, ends }.into());
    lab
}

pub(crate) fn bridge_with_guests(n: u32) -> Lab {
    let guest = |i: u32| format!("198.18.{}.{}", (10 + i) / 256, (10 + i) % 256);
    let mut lab = empty();
    lab.hosts.push(host("hv", false));
    for i in 0..n {
        lab.hosts.push(host(&format!("g{i}"), false));
        let address = format!("{}/16", guest(i));
        let ends = [end(&format!("g{i}:eth0"), Some(&address)), end(&format!("hv:g{i}"), None)];
        lab.links.push(link(&format!("g{i}"), ends, 1500));
    }
    let ports: Vec<String> = (0..n).map(|i| format!("g{i}")).collect();
    let ports: Vec<&str> = ports.iter().map(String::as_str).collect();
    lab.links.push(bridge("br", "hv:br0", &ports, Some("198.18.0.1/16"), 1500));
    lab
}

pub(crate) fn overlay(forwarding: Forwarding) -> Lab {
    let mut lab = Lab {
        hosts: vec![host("hv1", false), host("hv2", false), host("g1", false), host("g2", false)],
        ..empty()
    };
    lab.links.push(link(
        "wire",
        [end("hv1:eth0", Some("198.18.0.1/30")), end("hv2:eth0", Some("198.18.0.2/30"))],
        1500,
    ));
    for n in 1..=2 {
        let address = format!("198.18.1.{n}/24");
        let ends = [end(&format!("g{n}:eth0"), Some(&address)), end(&format!("hv{n}:g{n}"), None)];
        lab.links.push(link(&format!("g{n}"), ends, 1450));
        let (name, at, port) = (format!("br{n}"), format!("hv{n}:br0"), format!("g{n}"));
        lab.links.push(bridge(&name, &at, &[&port, "vx"], None, 1450));
    }
    lab.links.push(vxlan("vx", forwarding, [("hv1", "198.18.0.1", None), ("hv2", "198.18.0.2", None)]));
    lab
}

pub(crate) fn vxlan(name: &str, forwarding: Forwarding, members: [(&str, &str, Option<&str>); 2]) -> Link {
    let member = |(host, local, address): (&str, &str, Option<&str>)| TunnelEnd {
        at: DeviceRef::new(host, name),
        underlay: DeviceName::new("eth0"),
        local: ip(local),
        address: address.map(net),
        existing: false,
    };
    Vxlan {
        name: name.into(),
        vni: 42,
        port: 4789,
        forwarding,
        mtu: 1450,
        members: members.map(member).into(),
    }
    .into()
}

pub(crate) fn egress_gateway() -> Lab {
    let mut lab = Lab {
        hosts: vec![host("node", true), host("egress", true), host("pod", false), host("target", false)],
        ..empty()
    };
    lab.links.push(link(
        "wire",
        [end("node:eth0", Some("198.18.0.1/30")), end("egress:eth0", Some("198.18.0.2/30"))],
        1500,
    ));
    lab.links.push(link(
        "out",
        [end("egress:eth1", Some("198.18.2.1/24")), end("target:eth0", Some("198.18.2.2/24"))],
        1500,
    ));
    lab.links.push(link("pod", [end("pod:eth0", Some("198.18.3.2/24")), end("node:pod", None)], 1450));
    lab.links.push(bridge("pods", "node:pods", &["pod"], Some("198.18.3.1/24"), 1450));
    lab.links.push(vxlan(
        "vx",
        Forwarding::Unicast,
        [("node", "198.18.0.1", Some("198.18.1.1/24")), ("egress", "198.18.0.2", Some("198.18.1.2/24"))],
    ));
    lab.gateways.push(Gateway {
        name: "out".into(),
        node: HostName::new("node"),
        sources: net("198.18.3.0/24"),
        destinations: net("198.18.2.0/24"),
        tunnel: DeviceName::new("vx"),
        next_hop: ip("198.18.1.2"),
        table: 100,
        egress: HostName::new("egress"),
        egress_device: DeviceName::new("eth1"),
        egress_address: ip("198.18.2.100"),
    });
    lab.routes =
        vec![route("pod", "0.0.0.0/0", "198.18.3.1"), route("egress", "198.18.3.0/24", "198.18.1.1")];
    lab
}

pub(crate) fn converse(topology: &Topology, from: &str, to: &str, address: &str) -> IpAddr {
    let inside = |name: &str| topology.namespace(&HostName::new(name)).expect("a host of the lab");
    meet([inside(from), inside(to)], address)
}

pub(crate) fn meet([from, to]: [&NetNs; 2], address: &str) -> IpAddr {
    let bind = || TcpListener::bind((ip(address), 0)).expect("the host has the address");
    let listener = to.run_in(bind).expect("a namespace of the lab");
    let port = listener.local_addr().expect("it is bound").port();
    let server = std::thread::spawn(move || {
        let (mut stream, peer) = listener.accept()?;
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes)?;
        stream.write_all(&bytes)?;
        io::Result::Ok(peer.ip())
    });
    let client = from.run_in(|| {
        let mut stream = TcpStream::connect_timeout(&SocketAddr::from((ip(address), port)), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"hello")?;
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes)?;
        io::Result::Ok(bytes)
    });
    // Panic here with the reason, because the server thread waits forever if the client fails.
    let echoed = client.expect("a namespace of the lab");
    assert_eq!(&echoed.unwrap_or_else(|error| panic!("cannot reach {address}: {error}")), b"hello");
    server.join().expect("no panic").expect("the client got a reply")
}

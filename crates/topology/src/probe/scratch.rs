//! The smallest labs that need one thing each.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use scenario::{
    Bridge, DeviceName, DeviceRef, Forwarding, Gateway, Host, HostKind, HostName, Lab, Link, LinkEnd,
    LinkRole, Vxlan, VxlanMember,
};

const MTU: u32 = 1500;
const NEAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);

/// A host and nothing else.
pub(crate) fn host() -> Lab {
    Lab { hosts: vec![named("near", false)], ..Lab::default() }
}

/// A host that forwards.
pub(crate) fn router() -> Lab {
    Lab { hosts: vec![named("near", true)], ..host() }
}

/// Two hosts with a wire.
pub(crate) fn wire() -> Lab {
    let end = |host, address| LinkEnd { at: DeviceRef::new(host, "eth0"), address: Some(in_net(address)) };
    let ends = [end("near", NEAR), end("far", FAR)];
    let link = Link { name: "wire".into(), role: LinkRole::Wire, ends, mtu: MTU, rate: None };
    Lab { hosts: vec![named("near", false), named("far", false)], links: vec![link], ..host() }
}

/// The wire, its near end a port of a bridge.
pub(crate) fn bridge() -> Lab {
    let mut lab = wire();
    lab.links[0].ends[0].address = None;
    lab.bridges.push(Bridge {
        name: "bridge".into(),
        at: DeviceRef::new("near", "br0"),
        ports: vec![DeviceName::new("eth0")],
        address: Some(in_net(NEAR)),
        mtu: MTU,
    });
    lab
}

/// A tunnel over the wire.
pub(crate) fn vxlan() -> Lab {
    let member = |host, local| VxlanMember {
        at: DeviceRef::new(host, "vxlan"),
        underlay: DeviceName::new("eth0"),
        local,
        address: None,
    };
    let overlay = Vxlan {
        name: "vxlan".into(),
        vni: 1,
        port: 4789,
        forwarding: Forwarding::Unicast,
        mtu: MTU - 50,
        members: vec![member("near", NEAR), member("far", FAR)],
    };
    Lab { vxlans: vec![overlay], ..wire() }
}

/// The far end of the wire as a gateway for the near one.
pub(crate) fn gateway() -> Gateway {
    let elsewhere = |third| Ipv4Net::new_assert(Ipv4Addr::new(198, 18, third, 0), 24);
    Gateway {
        name: "gateway".into(),
        node: HostName::new("near"),
        sources: elsewhere(1),
        destinations: elsewhere(2),
        tunnel: DeviceName::new("eth0"),
        next_hop: FAR,
        table: 1000,
        egress: HostName::new("far"),
        egress_device: DeviceName::new("eth0"),
        egress_address: FAR,
    }
}

/// A host of that name.
pub(crate) fn named(name: &str, forwards: bool) -> Host {
    Host { name: HostName::new(name), kind: HostKind::Host, forwards, vm: None }
}

fn in_net(address: Ipv4Addr) -> Ipv4Net {
    Ipv4Net::new_assert(address, 24)
}

/// Whether this process may make namespaces; says so if not.
#[cfg(test)]
#[expect(clippy::disallowed_macros, reason = "a skipped test says so")]
pub(crate) fn can_raise(test: &str) -> bool {
    let can = sys::userns::has_net_admin();
    if !can {
        println!("skipped: {test}: needs root, or root in a user namespace");
    }
    can
}

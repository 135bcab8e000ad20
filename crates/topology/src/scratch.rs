//! Minimal labs for testing capabilities.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;
use scenario::{
    DeviceName, DeviceRef, DeviceSettings, Gateway, Host, HostKind, HostName, Lab,
    link::{LinkEnd, Wire},
};

pub(crate) const MTU: u32 = 1500;
pub(crate) const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 1));
pub(crate) const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 18, 0, 2));

pub(crate) fn host() -> Lab {
    Lab { hosts: vec![named("near")], ..Lab::default() }
}

pub(crate) fn router() -> Lab {
    Lab { hosts: vec![Host { forwards: true, ..named("near") }], ..Lab::default() }
}

pub(crate) fn wire() -> Lab {
    wire_with(|_| {})
}

pub(crate) fn wire_with(change: impl FnOnce(&mut Wire)) -> Lab {
    let end = |at, address| LinkEnd::new(at, Some(in_net(address)));
    let mut wire = Wire::new("near-far", [end(near(), NEAR), end(DeviceRef::new("far", "eth0"), FAR)], MTU);
    change(&mut wire);
    Lab { hosts: vec![named("near"), named("far")], links: vec![wire.into()], ..Lab::default() }
}

pub(crate) fn configured_wire(settings: DeviceSettings) -> Lab {
    Lab { devices: [(near(), settings)].into(), ..wire() }
}

pub(crate) fn near() -> DeviceRef {
    DeviceRef::new("near", "eth0")
}

pub(crate) fn gateway() -> Gateway {
    let elsewhere = |third| IpNet::new_assert(IpAddr::from([198, 18, third, 0]), 24);
    Gateway {
        name: "egress".into(),
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

pub(crate) fn named(name: &str) -> Host {
    Host::new(name, HostKind::Host)
}

fn in_net(address: IpAddr) -> IpNet {
    IpNet::new_assert(address, 24)
}

#[cfg(test)]
#[expect(clippy::disallowed_macros, reason = "reports a skipped test")]
pub(crate) fn can_create_namespaces(test: &str) -> bool {
    let can = sys::userns::has_net_admin();
    if !can {
        println!("skipped: {test}: needs root, or root in a user namespace");
    }
    can
}

//! Tests finding the device that leads to an address.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

use crate::support::{can_create_namespaces, device, overlay, wire};
use samples::DeviceState;
use scenario::{DeviceSettings, HostName, Offloads, link::Forwarding};
use topology::{Refusal, Topology, device_towards};

fn to(address: &str) -> SocketAddr {
    SocketAddr::new(address.parse().expect("the test's address is valid"), 5201)
}

fn device_from(
    topology: &Topology,
    host: &str,
    address: &str,
    from: Option<&str>,
) -> Result<Option<DeviceState>, Refusal> {
    let from: Option<IpAddr> = from.map(|from| from.parse().expect("the test's address is valid"));
    let namespace = topology.namespace(&HostName::new(host)).expect("a host of the lab");
    namespace.run_in(|| device_towards(to(address), from)).expect("a namespace of the lab")
}

#[test]
fn reads_state_of_outgoing_device() {
    if !can_create_namespaces("reads_state_of_outgoing_device") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let offloads = Offloads { tso: Some(false), gso: Some(false), ..Offloads::default() };
    let off = BTreeMap::from([(device("a:eth0"), DeviceSettings { offloads, ..DeviceSettings::default() })]);
    for (on, settings) in [(true, BTreeMap::new()), (false, off)] {
        topology.configure(&settings).unwrap();
        for from in [None, Some("198.18.0.1"), Some("0.0.0.0")] {
            let found = device_from(&topology, "a", "198.18.0.2", from).unwrap().expect("eth0 is used");
            assert_eq!(found.features["tx-tcp-segmentation"], on, "{found:?}");
            assert_eq!(found.features["tx-generic-segmentation"], on, "{found:?}");
            let read_back = topology.device_states(&[device("a:eth0")]).unwrap().remove(0);
            let here = DeviceState { device: "eth0".to_owned(), spread: None, ..read_back };
            assert_eq!(found, here, "from {from:?}");
        }
    }
}

#[test]
fn route_selects_the_device() {
    if !can_create_namespaces("route_selects_the_device") {
        return;
    }
    let topology = Topology::create(&overlay(Forwarding::Unicast)).unwrap();
    let found = device_from(&topology, "g1", "198.18.1.2", None).unwrap().expect("eth0 is used");
    assert_eq!((found.device.as_str(), found.kind.as_str(), found.mtu), ("eth0", "veth", 1450));
    let found = device_from(&topology, "hv1", "198.18.0.2", None).unwrap().expect("the wire is used");
    assert_eq!((found.device.as_str(), found.mtu), ("eth0", 1500));
}

#[test]
fn local_and_unroutable_addresses_have_no_device() {
    if !can_create_namespaces("local_and_unroutable_addresses_have_no_device") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    assert_eq!(device_from(&topology, "a", "198.18.0.1", None), Ok(None));
    let refusal = device_from(&topology, "a", "198.18.9.9", None).unwrap_err();
    assert_eq!(refusal.to_string(), "Network unreachable");
    assert!(
        device_from(&topology, "a", "198.18.0.2", Some("198.18.9.9")).is_err(),
        "not an address of host a"
    );
}

#[test]
fn loopback_has_no_device_and_needs_no_privileges() {
    assert_eq!(device_towards(to("127.0.0.1"), None), Ok(None));
    assert_eq!(device_towards(to("::ffff:127.0.0.1"), None), Ok(None));
}

//! The device by which a host reaches an address: found by its route, and told with what is switched off.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
};

use crate::support::{can_raise, device, overlay, wire};
use samples::DeviceState;
use scenario::{DeviceSettings, HostName, Offloads, link::Forwarding};
use topology::{Refusal, Topology, device_towards};

fn to(address: &str) -> SocketAddr {
    SocketAddr::new(address.parse().expect("the tests write it rightly"), 5201)
}

fn seen_from(
    topology: &Topology,
    host: &str,
    address: &str,
    from: Option<&str>,
) -> Result<Option<DeviceState>, Refusal> {
    let from: Option<IpAddr> = from.map(|from| from.parse().expect("the tests write it rightly"));
    let namespace = topology.namespace(&HostName::new(host)).expect("a host of the lab");
    namespace.run_in(|| device_towards(to(address), from)).expect("a namespace of the lab")
}

#[test]
fn the_device_on_the_way_is_told_as_it_is_read_back_with_its_offloads_off() {
    if !can_raise("the_device_on_the_way_is_told_as_it_is_read_back_with_its_offloads_off") {
        return;
    }
    let topology = Topology::raise(&wire()).unwrap();
    let offloads = Offloads { tso: Some(false), gso: Some(false), ..Offloads::default() };
    let off = BTreeMap::from([(device("a:eth0"), DeviceSettings { offloads, ..DeviceSettings::default() })]);
    for (on, settings) in [(true, BTreeMap::new()), (false, off)] {
        topology.configure(&settings).unwrap();
        for from in [None, Some("198.18.0.1"), Some("0.0.0.0")] {
            let seen = seen_from(&topology, "a", "198.18.0.2", from).unwrap().expect("eth0 is on the way");
            assert_eq!(seen.features["tx-tcp-segmentation"], on, "{seen:?}");
            assert_eq!(seen.features["tx-generic-segmentation"], on, "{seen:?}");
            let read_back = topology.device_states(&[device("a:eth0")]).unwrap().remove(0);
            let here = DeviceState { device: "eth0".to_owned(), spread: None, ..read_back };
            assert_eq!(seen, here, "from {from:?}");
        }
    }
}

#[test]
fn the_route_chooses_among_the_devices() {
    if !can_raise("the_route_chooses_among_the_devices") {
        return;
    }
    let topology = Topology::raise(&overlay(Forwarding::Unicast)).unwrap();
    let seen = seen_from(&topology, "g1", "198.18.1.2", None).unwrap().expect("eth0 is on the way");
    assert_eq!((seen.device.as_str(), seen.kind.as_str(), seen.mtu), ("eth0", "veth", 1450));
    let seen = seen_from(&topology, "hv1", "198.18.0.2", None).unwrap().expect("the wire is on the way");
    assert_eq!((seen.device.as_str(), seen.mtu), ("eth0", 1500));
}

#[test]
fn an_address_of_its_own_and_one_without_a_route_have_no_device() {
    if !can_raise("an_address_of_its_own_and_one_without_a_route_have_no_device") {
        return;
    }
    let topology = Topology::raise(&wire()).unwrap();
    assert_eq!(seen_from(&topology, "a", "198.18.0.1", None), Ok(None));
    let refusal = seen_from(&topology, "a", "198.18.9.9", None).unwrap_err();
    assert_eq!(refusal.to_string(), "Network unreachable");
    assert!(seen_from(&topology, "a", "198.18.0.2", Some("198.18.9.9")).is_err(), "not an address of a");
}

#[test]
fn loopback_is_no_device_and_needs_no_rights() {
    assert_eq!(device_towards(to("127.0.0.1"), None), Ok(None));
    assert_eq!(device_towards(to("::ffff:127.0.0.1"), None), Ok(None));
}

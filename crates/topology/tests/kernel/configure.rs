//! Tests applying and resetting device settings.

use std::collections::BTreeMap;

use crate::support::{can_create_namespaces, converse, device, overlay, wire, wire_of};
use samples::DeviceState;
use scenario::{DeviceSettingKind, DeviceSettings, Offloads, link::Forwarding};
use topology::{ConfigureError, Element, Topology};
use units::{BitRate, Bytes};

fn state(topology: &Topology, at: &str) -> DeviceState {
    topology.device_states(&[device(at)]).expect("the device exists").remove(0)
}

fn active<'a>(state: &'a DeviceState, is: impl Fn(&str) -> bool + 'a) -> Vec<&'a str> {
    state.features.iter().filter(|(name, on)| **on && is(name)).map(|(name, _)| name.as_str()).collect()
}

fn set(topology: &Topology, at: &str, settings: DeviceSettings) -> Result<(), ConfigureError> {
    topology.configure(&BTreeMap::from([(device(at), settings)]))
}

#[test]
fn disables_and_restores_tso() {
    if !can_create_namespaces("disables_and_restores_tso") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let before = state(&topology, "a:eth0");
    assert!(!active(&before, |name| name.starts_with("tx-tcp")).is_empty(), "{before:?}");
    let off = Offloads { tso: Some(false), ..Offloads::default() };
    set(&topology, "a:eth0", DeviceSettings { offloads: off, ..DeviceSettings::default() }).unwrap();
    let after = state(&topology, "a:eth0");
    assert_eq!(active(&after, |name| name.starts_with("tx-tcp")), Vec::<&str>::new());
    assert!(after.features["tx-generic-segmentation"], "only TSO was changed");
    topology.configure(&BTreeMap::new()).unwrap();
    assert_eq!(state(&topology, "a:eth0"), before);
}

#[test]
fn switches_all_offloads_of_wire_and_tunnel() {
    if !can_create_namespaces("switches_all_offloads_of_wire_and_tunnel") {
        return;
    }
    let topology = Topology::create(&overlay(Forwarding::Unicast)).unwrap();
    for at in ["hv1:eth0", "hv1:vx"] {
        let before = state(&topology, at);
        for on in [false, true, false] {
            set(&topology, at, DeviceSettings { offloads: Offloads::all(on), ..DeviceSettings::default() })
                .unwrap();
            let now = state(&topology, at);
            let offloads = ["tx-tcp-segmentation", "tx-generic-segmentation", "rx-gro", "rx-checksum"];
            for name in offloads {
                assert_eq!(now.features[name], on, "{name} of {at}");
            }
            assert_eq!(active(&now, |name| name.starts_with("tx-checksum-")).is_empty(), !on, "{at}");
            converse(&topology, "g1", "g2", "198.18.1.2");
        }
        topology.configure(&BTreeMap::new()).unwrap();
        assert_eq!(state(&topology, at), before);
    }
}

#[test]
fn rejects_segmentation_without_checksums() {
    if !can_create_namespaces("rejects_segmentation_without_checksums") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let offloads = Offloads { tso: Some(true), tx_checksum: Some(false), ..Offloads::default() };
    let error =
        set(&topology, "a:eth0", DeviceSettings { offloads, ..DeviceSettings::default() }).unwrap_err();
    assert!(matches!(error, ConfigureError::Differs { .. }), "{error}");
    assert!(error.to_string().contains("another setting"), "{error}");
}

#[test]
fn changes_and_restores_mtu_of_overlay() {
    if !can_create_namespaces("changes_and_restores_mtu_of_overlay") {
        return;
    }
    let topology = Topology::create(&overlay(Forwarding::Unicast)).unwrap();
    let mtu = |mtu| DeviceSettings { mtu: Some(mtu), ..DeviceSettings::default() };
    let all = ["hv1:br0", "hv1:eth0", "hv1:g1", "hv1:vx", "hv2:eth0"].map(device);
    let wanted = [8950, 9000, 8950, 8950, 9000];
    let settings = all.iter().cloned().zip(wanted.map(mtu)).collect();
    topology.configure(&settings).unwrap();
    let found = topology.device_states(&all).unwrap().iter().map(|state| state.mtu).collect::<Vec<_>>();
    assert_eq!(found, wanted);
    topology.configure(&BTreeMap::new()).unwrap();
    let found = topology.device_states(&all).unwrap().iter().map(|state| state.mtu).collect::<Vec<_>>();
    assert_eq!(found, [1450, 1500, 1450, 1450, 1500]);
}

#[test]
fn rejects_mtu_too_large_for_tunnel() {
    if !can_create_namespaces("rejects_mtu_too_large_for_tunnel") {
        return;
    }
    let topology = Topology::create(&overlay(Forwarding::Unicast)).unwrap();
    let error = set(&topology, "hv1:vx", DeviceSettings { mtu: Some(1500), ..DeviceSettings::default() });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("hv1:vx") && error.contains("MTU 1500"), "{error}");
}

#[test]
fn sets_and_restores_big_tcp_sizes() {
    if !can_create_namespaces("sets_and_restores_big_tcp_sizes") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let before = state(&topology, "a:eth0");
    let big = |bytes| DeviceSettings { big_tcp: Some(Bytes(bytes)), ..DeviceSettings::default() };
    set(&topology, "a:eth0", big(262_144)).unwrap();
    let now = state(&topology, "a:eth0");
    assert_eq!([now.gso_max_size, now.gro_max_size], [Some(Bytes(262_144)); 2]);
    let error = set(&topology, "a:eth0", big(1 << 30)).unwrap_err();
    assert!(matches!(error, ConfigureError::Unsupported { .. }), "{error}");
    topology.configure(&BTreeMap::new()).unwrap();
    assert_eq!(state(&topology, "a:eth0"), before);
}

#[test]
fn unsupported_setting_is_missing_and_lab_is_created() {
    if !can_create_namespaces("unsupported_setting_is_missing_and_lab_is_created") {
        return;
    }
    let mut lab = wire();
    let settings =
        DeviceSettings { mtu: Some(1400), big_tcp: Some(Bytes(1 << 30)), ..DeviceSettings::default() };
    lab.devices.insert(device("a:eth0"), settings);
    let topology = Topology::create(&lab).unwrap();
    let missing = topology.missing();
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].element, Element::Setting(DeviceSettingKind::BigTcp, device("a:eth0")));
    assert_eq!(missing[0].devices, [device("a:eth0")]);
    assert_eq!(state(&topology, "a:eth0").mtu, 1400);
}

#[test]
fn rate_limit_uses_tbf_at_both_ends() {
    if !can_create_namespaces("rate_limit_uses_tbf_at_both_ends") {
        return;
    }
    let mut lab = wire();
    wire_of(&mut lab).rate = Some(BitRate(100e6));
    let topology = Topology::create(&lab).unwrap();
    if topology.missing().is_empty() {
        for at in ["a:eth0", "b:eth0"] {
            let reading = topology.reading(&[device(at)]).unwrap().devices.remove(0);
            assert_eq!(reading.qdisc.map(|qdisc| qdisc.kind), Some("tbf".to_owned()));
        }
    } else {
        assert_eq!(topology.missing()[0].element, Element::Rate("wire".into()));
    }
    converse(&topology, "a", "b", "198.18.0.2");
}

#[test]
fn error_names_unknown_device() {
    if !can_create_namespaces("error_names_unknown_device") {
        return;
    }
    let topology = Topology::create(&wire()).unwrap();
    let error = set(&topology, "a:eth7", DeviceSettings::default()).unwrap_err();
    assert!(error.to_string().contains("a:eth7"), "{error}");
}

#[test]
fn sets_queues_up_to_number_at_creation() {
    if !can_create_namespaces("sets_queues_up_to_number_at_creation") {
        return;
    }
    let queues = |queues| DeviceSettings { queues: Some(queues), ..DeviceSettings::default() };
    let mut lab = overlay(Forwarding::Unicast);
    for at in ["hv1:eth0", "hv2:eth0"] {
        lab.devices.entry(device(at)).or_default().queues = Some(4);
    }
    let topology = Topology::create(&lab).unwrap();
    assert!(topology.missing().is_empty(), "{:?}", topology.missing());
    for number in [1, 2, 4, 3] {
        let both = ["hv1:eth0", "hv2:eth0"].map(|at| (device(at), queues(number)));
        topology.configure(&BTreeMap::from(both)).unwrap();
        let peer = converse(&topology, "hv1", "hv2", "198.18.0.2");
        assert_eq!(peer.to_string(), "198.18.0.1", "with {number} queues");
    }
    let error = set(&topology, "hv1:eth0", queues(8)).unwrap_err();
    let message = error.to_string();
    assert!(
        matches!(error, ConfigureError::Unsupported { .. }) && message.contains("at most 4"),
        "{message}"
    );
    let error = set(&topology, "hv1:vx", queues(2)).unwrap_err();
    assert!(
        matches!(error, ConfigureError::Unsupported { .. }),
        "a tunnel has no configurable queues: {error}"
    );
    topology.configure(&BTreeMap::new()).unwrap();
}

#[test]
fn missing_rings_are_reported_and_the_rest_is_set() {
    if !can_create_namespaces("missing_rings_are_reported_and_the_rest_is_set") {
        return;
    }
    let mut rings = DeviceSettings { mtu: Some(1400), ..DeviceSettings::default() };
    rings.rings.rx = Some(256);
    let mut lab = wire();
    let topology = Topology::create(&lab).unwrap();
    let error = set(&topology, "a:eth0", rings.clone()).unwrap_err();
    assert!(matches!(error, ConfigureError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("ring size of device `a:eth0`"), "{error}");
    lab.devices.insert(device("a:eth0"), rings);
    let topology = Topology::create(&lab).unwrap();
    let missing: Vec<&Element> = topology.missing().iter().map(|missing| &missing.element).collect();
    assert_eq!(missing, [&Element::Setting(DeviceSettingKind::Rings, device("a:eth0"))]);
    assert_eq!(state(&topology, "a:eth0").mtu, 1400);
}

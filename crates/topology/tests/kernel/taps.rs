//! Tests the tap devices of virtual machines.
#![expect(clippy::disallowed_methods, reason = "reads sysfs")]

use std::{collections::BTreeMap, fs, fs::File, thread, time::Duration};

use samples::Coalescing;
use scenario::{DeviceSettings, Host, HostName, Lab, Link, Monitor, Vm, link::Nic};
use sys::{netns::NetNs, sysfs::Sysfs};
use topology::{ConfigureError, Topology};

use crate::support::{bridge, can_create_namespaces, device, empty, host, net};

const PORT: &str = "02:50:00:00:00:00";

fn lab() -> Lab {
    let vm = Vm { vcpus: 2, queues: 2, ..Vm::default() };
    let nic = Nic {
        name: "vm0".into(),
        at: device("vm0:eth0"),
        port: device("hv:vm0"),
        address: net("198.18.0.7/24"),
        mtu: 9000,
        queues: 2,
    };
    let mut lab = empty();
    lab.hosts = vec![host("hv", false), Host { vm: Some(vm), ..host("vm0", false) }];
    lab.links = vec![nic.into(), bridge("br", "hv:br0", &["vm0"], None, 9000)];
    lab.devices.insert(device("vm0:eth0"), DeviceSettings { mtu: Some(1500), ..DeviceSettings::default() });
    lab
}

#[expect(clippy::disallowed_macros, reason = "reports a skipped test")]
fn can_tap(test: &str) -> bool {
    let opened = File::options().read(true).write(true).open("/dev/net/tun");
    if let Err(error) = &opened {
        println!("skipped: {test}: /dev/net/tun: {error}");
    }
    opened.is_ok() && can_create_namespaces(test)
}

fn facts(inside: &NetNs) -> Option<(String, String, usize)> {
    let read = || {
        let sysfs = Sysfs::here().expect("runs as root");
        let folder = sysfs.path().join("class/net/vm0");
        let address = fs::read_to_string(folder.join("address")).ok()?.trim().to_owned();
        let bridge = fs::read_link(folder.join("master")).expect("it is a port");
        let queues = fs::read_dir(folder.join("queues")).expect("it has queues").count();
        Some((bridge.file_name()?.to_str()?.to_owned(), address, queues))
    };
    inside.run_in(read).expect("it can be entered")
}

fn hypervisor(topology: &Topology) -> NetNs {
    topology.namespace(&HostName::new("hv")).expect("the host exists").try_clone().expect("a file descriptor")
}

#[test]
fn tap_device_is_a_configured_bridge_port() {
    if !can_tap("tap_device_is_a_configured_bridge_port") {
        return;
    }
    let topology = Topology::create(&lab()).unwrap();
    assert_eq!(topology.missing(), []);
    assert!(topology.namespace(&HostName::new("vm0")).is_none(), "a guest has its own kernel");
    let state = topology.device_states(&[device("hv:vm0")]).unwrap().remove(0);
    assert_eq!(
        (state.kind.as_str(), state.mtu),
        ("tap", 9000),
        "settings of the guest do not apply to the port"
    );
    let facts = facts(&hypervisor(&topology)).expect("the device exists");
    assert_eq!(facts, ("br0".to_owned(), PORT.to_owned(), 4));
    let tap = topology.tap(&HostName::new("vm0")).expect("a guest").unwrap();
    assert_eq!(tap.queues.len(), 2);
    assert_eq!(tap.mac, [0x02, 0x56, 198, 18, 0, 7]);
    assert!(topology.tap(&HostName::new("hv")).is_none());
}

#[test]
fn removes_tap_device_with_topology() {
    if !can_tap("removes_tap_device_with_topology") {
        return;
    }
    let topology = Topology::create(&lab()).unwrap();
    let inside = hypervisor(&topology);
    assert!(facts(&inside).is_some(), "the device is visible");
    let tap = topology.tap(&HostName::new("vm0")).expect("a guest").unwrap();
    drop(topology);
    assert!(facts(&inside).is_some(), "open queues keep the device");
    drop(tap);
    // A child that another test has just forked may hold the queues until it starts its program.
    let mut waits = 100;
    while facts(&inside).is_some() && waits > 0 {
        thread::sleep(Duration::from_millis(50));
        waits -= 1;
    }
    assert_eq!(facts(&inside), None);
}

#[test]
fn tap_device_for_firecracker_can_be_opened_by_name() {
    if !can_tap("tap_device_for_firecracker_can_be_opened_by_name") {
        return;
    }
    let mut lab = lab();
    lab.hosts[1].vm = Some(Vm { monitor: Monitor::Firecracker, ..Vm::default() });
    let Some(Link::Nic(nic)) = lab.links.first_mut() else { panic!("the guest comes first") };
    nic.queues = 1;
    // Repeat the test, because the bridge may be slow to notice a port without a reader.
    for _ in 0..10 {
        drop(Topology::create(&lab).unwrap());
    }
    let topology = Topology::create(&lab).unwrap();
    assert_eq!(topology.missing(), []);
    let tap = topology.tap(&HostName::new("vm0")).expect("a guest").unwrap();
    assert_eq!((tap.queues.len(), tap.at), (0, device("hv:vm0")));
    let inside = hypervisor(&topology);
    let opened = inside.run_in(|| sys::tap::create("vm0", 0, 1)).expect("it can be entered");
    drop(opened.expect("not opened by another process"));
    assert_eq!(facts(&inside).expect("the device exists"), ("br0".to_owned(), PORT.to_owned(), 2));
}

/// A tap device supports only `rx-frames`; other parameters are tested with guests, in tests/vm.
#[test]
fn sets_and_restores_supported_coalescing() {
    if !can_tap("sets_and_restores_supported_coalescing") {
        return;
    }
    let topology = Topology::create(&lab()).unwrap();
    let now = || topology.device_states(&[device("hv:vm0")]).unwrap().remove(0).coalescing;
    let set = |coalescing: Coalescing| {
        let settings = DeviceSettings { coalescing, ..DeviceSettings::default() };
        topology.configure(&BTreeMap::from([(device("hv:vm0"), settings)]))
    };
    let frames = |frames| Coalescing { rx_frames: Some(frames), ..Coalescing::NONE };
    assert_eq!(now(), Some(frames(0)), "initial value");
    for wanted in [32, 8] {
        set(frames(wanted)).unwrap();
        assert_eq!(now(), Some(frames(wanted)));
    }
    let error = set(Coalescing { rx_usecs: Some(50), ..frames(8) }).unwrap_err();
    assert!(matches!(error, ConfigureError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("rx-usecs 50: its driver supports only rx-frames"), "{error}");
    topology.configure(&BTreeMap::new()).unwrap();
    assert_eq!(now(), Some(frames(0)), "initial value");
    let bridge = topology.device_states(&[device("hv:br0")]).unwrap().remove(0);
    assert_eq!(bridge.coalescing, None);
}

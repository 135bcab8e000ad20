//! Tap devices for guests that are virtual machines: as ports of a bridge, with the settings that the lab says, and gone
//! with the topology. No guest is needed for that.
#![expect(clippy::disallowed_methods, reason = "a test looks into sysfs")]

use std::{collections::BTreeMap, fs, fs::File};

use samples::Coalescing;
use scenario::{DeviceSettings, Host, HostName, Lab, Link, Monitor, Vm, link::Nic};
use sys::{netns::NetNs, sysfs::Sysfs};
use topology::{ConfigureError, Topology};

use crate::support::{bridge, can_raise, device, empty, host, net};

/// The MAC address of the port, which is other than that of the guest's device: the lab's first number.
const PORT: &str = "02:50:00:00:00:00";

/// A host with a bridge, and a guest of two CPUs behind it.
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

/// Whether the machine has tap devices; says so if not.
#[expect(clippy::disallowed_macros, reason = "a skipped test says so")]
fn can_tap(test: &str) -> bool {
    let there = File::options().read(true).write(true).open("/dev/net/tun");
    if let Err(error) = &there {
        println!("skipped: {test}: /dev/net/tun: {error}");
    }
    there.is_ok() && can_raise(test)
}

/// The bridge that `vm0` is a port of, its MAC address, and its queues of both directions; `None` where it is not.
fn facts(inside: &NetNs) -> Option<(String, String, usize)> {
    let read = || {
        let sysfs = Sysfs::here().expect("it is root here");
        let folder = sysfs.path().join("class/net/vm0");
        let address = fs::read_to_string(folder.join("address")).ok()?.trim().to_owned();
        let bridge = fs::read_link(folder.join("master")).expect("it is a port");
        let queues = fs::read_dir(folder.join("queues")).expect("it has some").count();
        Some((bridge.file_name()?.to_str()?.to_owned(), address, queues))
    };
    inside.run_in(read).expect("it can be entered")
}

fn hypervisor(topology: &Topology) -> NetNs {
    topology.namespace(&HostName::new("hv")).expect("it is raised").try_clone().expect("a descriptor")
}

#[test]
fn a_guest_s_tap_device_is_a_port_with_its_mtu_its_mac_and_its_queues() {
    if !can_tap("a_guest_s_tap_device_is_a_port_with_its_mtu_its_mac_and_its_queues") {
        return;
    }
    let topology = Topology::raise(&lab()).unwrap();
    assert_eq!(topology.missing(), []);
    assert!(topology.namespace(&HostName::new("vm0")).is_none(), "a guest has a kernel of its own");
    let state = topology.device_states(&[device("hv:vm0")]).unwrap().remove(0);
    assert_eq!((state.kind.as_str(), state.mtu), ("tap", 9000), "what the guest sets is not its port's");
    let facts = facts(&hypervisor(&topology)).expect("it is there");
    assert_eq!(facts, ("br0".to_owned(), PORT.to_owned(), 4));
    let tap = topology.tap(&HostName::new("vm0")).expect("it is a guest").unwrap();
    assert_eq!(tap.queues.len(), 2);
    assert_eq!(tap.mac, [0x02, 0x56, 198, 18, 0, 7]);
    assert!(topology.tap(&HostName::new("hv")).is_none());
}

#[test]
fn a_tap_device_goes_with_the_topology() {
    if !can_tap("a_tap_device_goes_with_the_topology") {
        return;
    }
    let topology = Topology::raise(&lab()).unwrap();
    let inside = hypervisor(&topology);
    assert!(facts(&inside).is_some(), "the test sees what is there");
    let tap = topology.tap(&HostName::new("vm0")).expect("it is a guest").unwrap();
    drop(topology);
    assert!(facts(&inside).is_some(), "a monitor that has its queues keeps it");
    drop(tap);
    assert_eq!(facts(&inside), None);
}

#[test]
fn a_tap_device_that_its_monitor_opens_by_name_waits_for_it_and_goes_with_the_namespace() {
    if !can_tap("a_tap_device_that_its_monitor_opens_by_name_waits_for_it_and_goes_with_the_namespace") {
        return;
    }
    let mut lab = lab();
    lab.hosts[1].vm = Some(Vm { monitor: Monitor::Firecracker, ..Vm::default() });
    let Some(Link::Nic(nic)) = lab.links.first_mut() else { panic!("the guest comes first") };
    nic.queues = 1;
    // How soon the bridge learns that nobody holds its port is the kernel's matter.
    for _ in 0..10 {
        drop(Topology::raise(&lab).unwrap());
    }
    let topology = Topology::raise(&lab).unwrap();
    assert_eq!(topology.missing(), []);
    let tap = topology.tap(&HostName::new("vm0")).expect("it is a guest").unwrap();
    assert_eq!((tap.queues.len(), tap.at), (0, device("hv:vm0")));
    let inside = hypervisor(&topology);
    let opened = inside.run_in(|| sys::tap::create("vm0", 0, 1)).expect("it can be entered");
    drop(opened.expect("nobody else has opened it"));
    assert_eq!(facts(&inside).expect("it is there"), ("br0".to_owned(), PORT.to_owned(), 2));
}

/// A tap device has `rx-frames` alone; what a guest's own device makes of the rest is tried with guests, in tests/vm.
#[test]
fn a_device_coalesces_as_is_asked_as_far_as_its_driver_can_and_goes_back() {
    if !can_tap("a_device_coalesces_as_is_asked_as_far_as_its_driver_can_and_goes_back") {
        return;
    }
    let topology = Topology::raise(&lab()).unwrap();
    let now = || topology.device_states(&[device("hv:vm0")]).unwrap().remove(0).coalescing;
    let set = |coalescing: Coalescing| {
        let settings = DeviceSettings { coalescing, ..DeviceSettings::default() };
        topology.configure(&BTreeMap::from([(device("hv:vm0"), settings)]))
    };
    let frames = |frames| Coalescing { rx_frames: Some(frames), ..Coalescing::NONE };
    assert_eq!(now(), Some(frames(0)), "as it is made");
    for wanted in [32, 8] {
        set(frames(wanted)).unwrap();
        assert_eq!(now(), Some(frames(wanted)));
    }
    let error = set(Coalescing { rx_usecs: Some(50), ..frames(8) }).unwrap_err();
    assert!(matches!(error, ConfigureError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("rx-usecs 50: its driver has rx-frames alone"), "{error}");
    topology.configure(&BTreeMap::new()).unwrap();
    assert_eq!(now(), Some(frames(0)), "as it was made");
    let bridge = topology.device_states(&[device("hv:br0")]).unwrap().remove(0);
    assert_eq!(bridge.coalescing, None);
}

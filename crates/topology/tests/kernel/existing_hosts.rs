//! Tests labs on existing hosts, using two connected namespaces as the hosts.

use scenario::{Access, DeviceName, ExistingHost, Host, HostName, Lab, Link, link::Forwarding};
use sys::netns::NetNs;
use topology::Topology;

use crate::support::{can_create_namespaces, device, empty, end, host, is_whole, link, meet, vxlan};

const HOSTS: [&str; 2] = ["a", "b"];

fn own_network() -> Topology {
    let mut lab = empty();
    lab.hosts = HOSTS.map(|name| host(name, false)).into();
    let ends = [end("a:eth0", Some("198.18.0.1/24")), end("b:eth0", Some("198.18.0.2/24"))];
    lab.links.push(link("wire", ends, 1500));
    Topology::create(&lab).expect("a wire can be created")
}

fn overlay() -> Lab {
    let existing = ExistingHost {
        access: Access::Local,
        address: None,
        interface: None,
        port: None,
        mtu: None,
        uplink: None,
    };
    let mut lab = empty();
    lab.hosts = HOSTS.map(|name| Host { existing: Some(existing.clone()), ..host(name, false) }).into();
    let members = [("a", "198.18.0.1", Some("198.18.9.1/24")), ("b", "198.18.0.2", Some("198.18.9.2/24"))];
    let mut link = vxlan("vx", Forwarding::Unicast, members);
    if let Link::Vxlan(overlay) = &mut link {
        overlay.members.iter_mut().for_each(|member| member.existing = true);
    }
    lab.links.push(link);
    lab
}

fn namespace_of<'t>(topology: &'t Topology, host: &str) -> &'t NetNs {
    topology.namespace(&HostName::new(host)).expect("a host namespace_of the lab")
}

#[test]
fn overlay_uses_host_network_without_adding_devices_to_it() {
    const TEST: &str = "overlay_uses_host_network_without_adding_devices_to_it";
    if !can_create_namespaces(TEST) {
        return;
    }
    let (own, lab) = (own_network(), overlay());
    let create = |host: &str| {
        let created = namespace_of(&own, host).run_in(|| Topology::inside(&lab, &HostName::new(host)));
        created.expect("root may enter").expect("the lab fits")
    };
    for _ in 0..2 {
        let [a, b] = HOSTS.map(create);
        if !is_whole(&a, TEST) {
            return;
        }
        assert_eq!(
            meet([namespace_of(&a, "a"), namespace_of(&b, "b")], "198.18.9.2").to_string(),
            "198.18.9.1"
        );
        for (topology, at) in [(&a, "a:vx"), (&b, "b:vx")] {
            let counters = &topology.reading(&[device(at)]).expect("the device exists").devices[0];
            assert!(counters.rx_packets > 3 && counters.tx_packets > 3, "{counters:?}");
        }
        let (host, vx) = (HostName::new("a"), DeviceName::new("vx"));
        let found = namespace_of(&own, "a").run_in(|| Topology::existing(&host, None, Some(&vx)));
        let error =
            found.expect("root may enter").expect_err("the device is not in the host's own namespace");
        assert!(error.to_string().contains("lo, eth0"), "{error}");
    }
}

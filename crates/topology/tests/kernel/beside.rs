//! What is made on hosts that exist already: here on two namespaces of the test, with a wire between them.

use scenario::{Access, DeviceName, ExistingHost, Host, HostName, Lab, Link, link::Forwarding};
use sys::netns::NetNs;
use topology::Topology;

use crate::support::{can_raise, device, empty, end, host, is_whole, link, meet, vxlan};

const HOSTS: [&str; 2] = ["a", "b"];

/// Two hosts on a wire, which exist before anything is made on them.
fn own_network() -> Topology {
    let mut lab = empty();
    lab.hosts = HOSTS.map(|name| host(name, false)).into();
    let ends = [end("a:eth0", Some("198.18.0.1/24")), end("b:eth0", Some("198.18.0.2/24"))];
    lab.links.push(link("wire", ends, 1500));
    Topology::raise(&lab).expect("a wire can be made")
}

/// An overlay between them.
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

fn of<'t>(topology: &'t Topology, host: &str) -> &'t NetNs {
    topology.namespace(&HostName::new(host)).expect("a host of the lab")
}

#[test]
fn an_overlay_goes_over_the_own_network_of_hosts_and_its_devices_are_never_in_it() {
    const TEST: &str = "an_overlay_goes_over_the_own_network_of_hosts_and_its_devices_are_never_in_it";
    if !can_raise(TEST) {
        return;
    }
    let (own, lab) = (own_network(), overlay());
    let make = |host: &str| {
        let made = of(&own, host).run_in(|| Topology::inside(&lab, &HostName::new(host)));
        made.expect("root may enter").expect("the lab fits")
    };
    // What was made a moment before is waited for until the kernel has taken it away.
    for _ in 0..2 {
        let [a, b] = HOSTS.map(make);
        if !is_whole(&a, TEST) {
            return;
        }
        assert_eq!(meet([of(&a, "a"), of(&b, "b")], "198.18.9.2").to_string(), "198.18.9.1");
        for (made, at) in [(&a, "a:vx"), (&b, "b:vx")] {
            let counters = &made.reading(&[device(at)]).expect("it stands").devices[0];
            assert!(counters.rx_packets > 3 && counters.tx_packets > 3, "{counters:?}");
        }
        let (host, vx) = (HostName::new("a"), DeviceName::new("vx"));
        let found = of(&own, "a").run_in(|| Topology::existing(&host, None, Some(&vx)));
        let error = found.expect("root may enter").expect_err("the device is not in the own namespace");
        assert!(error.to_string().contains("lo, eth0"), "{error}");
    }
}

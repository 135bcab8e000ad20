//! Labs for the tests.

use super::lab::Lab;

pub(super) fn wire() -> Option<Lab> {
    let mut lab = Lab::new(&["a", "b"])?;
    lab.wire("a:eth0", "b:eth0");
    lab.up("a:eth0", Some("198.18.1.1/24")).up("b:eth0", Some("198.18.1.2/24"));
    lab.up("a:eth0", Some("2001:2:0:1::1/64")).up("b:eth0", Some("2001:2:0:1::2/64"));
    Some(lab)
}

/// Two guests (198.18.64.1 and 198.18.64.2, and 2001:2:0:40::1 and 2001:2:0:40::2), each on the bridge of its own
/// hypervisor. `underlay` is the prefix of the hypervisors' addresses.
pub(super) fn overlay(underlay: &str) -> Option<Lab> {
    let mut lab = Lab::new(&["g1", "hv1", "hv2", "g2"])?;
    lab.wire("hv1:eth0", "hv2:eth0");
    for n in [1, 2] {
        lab.wire(&format!("g{n}:eth0"), &format!("hv{n}:g{n}"));
        lab.up(
            &format!("hv{n}:eth0"),
            Some(&format!("{underlay}{n}/{}", if underlay.contains(':') { 64 } else { 24 })),
        );
        let (hv, peer) = (format!("hv{n}"), 3 - n);
        lab.add(&format!("{hv}:vnet0"), "bridge", "");
        let tunnel = format!("id 100 local {underlay}{n} remote {underlay}{peer} dstport 4789 dev eth0");
        lab.add(&format!("{hv}:vx100"), "vxlan", &tunnel);
        lab.ip(&hv, &format!("link set vx100 master vnet0\nlink set g{n} master vnet0"));
        for device in ["vx100", "vnet0", &format!("g{n}")] {
            lab.up(&format!("{hv}:{device}"), None);
        }
        lab.ip(&format!("g{n}"), "link set eth0 mtu 1430");
        lab.up(&format!("g{n}:eth0"), Some(&format!("198.18.64.{n}/24")));
        lab.up(&format!("g{n}:eth0"), Some(&format!("2001:2:0:40::{n}/64")));
    }
    Some(lab)
}

/// A path on which `node` masquerades packets from `pod` with a random port. The target is 198.18.2.2.
pub(super) fn gateway() -> Option<Lab> {
    let mut lab = Lab::new(&["pod", "node", "target"])?;
    lab.wire("pod:eth0", "node:pod0");
    lab.wire("node:eth1", "target:eth0");
    lab.up("pod:eth0", Some("198.18.64.10/24")).up("node:pod0", Some("198.18.64.1/24"));
    lab.up("node:eth1", Some("198.18.2.1/24")).up("target:eth0", Some("198.18.2.2/24"));
    lab.ip("pod", "route add default via 198.18.64.1");
    lab.forward("node");
    let rule = "oifname eth1 masquerade random";
    lab.nft(
        "node",
        &format!("table ip t {{ chain c {{ type nat hook postrouting priority 100\n{rule}\n}}\n}}"),
    )?;
    Some(lab)
}

pub(super) fn bridges(n: usize) -> Option<Lab> {
    let mut lab = Lab::new(&["a", "mid", "b"])?;
    lab.wire("a:eth0", "mid:l0");
    for i in 1..n {
        lab.wire(&format!("mid:r{}", i - 1), &format!("mid:l{i}"));
    }
    lab.wire(&format!("mid:r{}", n - 1), "b:eth0");
    for i in 0..n {
        lab.add(&format!("mid:br{i}"), "bridge", "");
        lab.ip(
            "mid",
            &format!("link set l{i} master br{i} up\nlink set r{i} master br{i} up\nlink set br{i} up"),
        );
    }
    lab.up("a:eth0", Some("198.18.1.1/24")).up("b:eth0", Some("198.18.1.2/24"));
    Some(lab)
}

//! Tests built-in scenarios with virtual machines as guests, and a guest's device without a scenario.

use std::collections::BTreeSet;

use plumb_tests::{Leftovers, PATIENCE, trials};

use crate::{boots::boot, measured::number, remains::processes, sandbox};

pub(crate) fn guests_of_shipped_scenarios() {
    for (name, path, virtio) in [
        ("proxmox-vxlan", "guest-to-guest", &["dev-gateway:eth0", "dev-app02:eth0"][..]),
        ("egress-gateway", "pod-to-target", &["app:eth0"]),
    ] {
        let sandbox = sandbox();
        let before = Leftovers::of(&sandbox);
        let flags = ["--guests", "vm", "--path", path, "--workload", "latency", "--trials", "1"];
        let _ = sandbox.succeed(&[&["run", name, "--probe", "none"], &flags[..]].concat());
        let record = sandbox.record();
        assert_eq!(record["header"]["scenario"]["name"], format!("{name}-vm"));
        let through: Vec<_> = trials(&record)
            .iter()
            .filter(|trial| trial["result"].as_str().is_some_and(|c| c.starts_with(path)))
            .collect();
        assert_eq!(through.len(), 1, "{name}: {:?}", record["skipped"]);
        let devices = through[0]["devices"].as_array().expect("a list");
        let of_guests: BTreeSet<&str> = devices
            .iter()
            .filter(|device| device["kind"] == "virtio")
            .filter_map(|device| device["device"].as_str())
            .collect();
        assert_eq!(of_guests, virtio.iter().copied().collect(), "{name}");
        assert!(devices.iter().all(|device| number(&device["gso_max_size"]) > 0), "{devices:?}");
        assert!(processes(&sandbox).is_empty());
        before.are_gone_within(PATIENCE);
    }
}

pub(crate) fn device_without_scenario() {
    let sandbox = sandbox();
    let flags = ["--vcpus", "2", "--queues", "2", "--mtu", "9000", "--probe", "none"];
    let document = boot(&sandbox, &flags);
    let devices = document["network"]["devices"].as_array().expect("a list");
    let (near, far) = (&devices[0], &devices[1]);
    assert_eq!(
        (near["device"].as_str(), near["kind"].as_str()),
        (Some("guest:eth0"), Some("virtio")),
        "{near}"
    );
    assert_eq!((far["device"].as_str(), far["kind"].as_str()), (Some("host:guest"), Some("tap")), "{far}");
    for device in devices {
        assert_eq!(number(&device["mtu"]), 9000, "{device}");
        assert_eq!((number(&device["queues"]["rx"]), number(&device["queues"]["tx"])), (2, 2), "{device}");
    }
    assert!(number(&near["rings"]["rx"]) > 0, "{near}");
    let agreed = near["virtio"].as_array().expect("it is a virtio device");
    assert!(agreed.iter().any(|feature| feature == "mq"), "{agreed:?}");
    assert!(processes(&sandbox).is_empty());
}

pub(crate) fn devices_that_cannot_be() {
    let sandbox = sandbox();
    let output = sandbox.plumb(&["vm", "run", "--queues", "2"]);
    assert_eq!(output.status, Some(64), "{output:?}");
    assert!(
        output.err.contains("at most one queue per CPU") && output.err.contains("--vcpus 2"),
        "{}",
        output.err
    );
    let output = sandbox.plumb(&["vm", "run", "--vhost", "on", "--probe", "none"]);
    assert!(
        output.status == Some(0) || output.status == Some(3) && output.err.contains("/dev/vhost-net"),
        "{output:?}"
    );
}

//! Tests built-in scenarios with virtual machines as guests, and a guest's device without a scenario.

use std::collections::BTreeSet;

use plumb_tests::{Leftovers, PATIENCE, guest_kernel_series, trials};

use crate::{
    boots::boot,
    measured::{number, run, scenario},
    remains::processes,
    sandbox,
};

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

pub(crate) fn kernels_of_guests() {
    let (sandbox, series) = (sandbox(), guest_kernel_series());
    let (oldest, newest) = (series.first().expect("it is needed"), series.last().expect("it is needed"));
    let more = format!(
        "[vms.other]\nkernel = \"{newest}\"\n[guests.vm1]\nbridge = \"vmbr0\"\n\
         address = \"198.18.64.85/24\"\nvm = \"other\"\n[paths.to-other]\nfrom = \"pve\"\nto = \"vm1\"\n\
         [workloads.latency]\nkind = \"ping-pong\"\nduration = \"200ms\"\n[schedule]\ntrials = 1\n"
    );
    let file =
        |kernel: &str| sandbox.file("kernels.toml", &scenario(&format!("kernel = \"{kernel}\""), &more));
    let output = run(&sandbox, &file(oldest));
    assert_eq!(output.status, Some(0), "{output:?}");
    let record = sandbox.record();
    let machines = record["header"]["machines"].as_array().expect("a list");
    for (host, series) in [("vm0", oldest), ("vm1", newest)] {
        let machine = machines.iter().find(|machine| machine["host"] == host).expect("it was booted");
        let kernel = machine["kernel"].as_str().expect("it is known");
        assert!(kernel.starts_with(&format!("{series}.")), "{host}: {kernel}");
    }
    for (kernel, printed) in [("1.0", "`kernel = \"1.0\"`: no kernel 1.0 is installed"), ("", "is empty")] {
        let output = run(&sandbox, &file(kernel));
        assert!(output.status != Some(0) && output.err.contains(printed), "{output:?}");
    }
}

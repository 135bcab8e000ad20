//! Tests Firecracker guests. If the program is missing, the tests are skipped and print the reason.

use plumb_tests::trials;
use serde_json::Value;

use crate::sandbox;

const SCENARIO: &str = r#"schema = 1
name = "firecracker"
title = "A Firecracker guest and a namespace on one bridge"

[hosts.pve]

[bridges.vmbr0]
host = "pve"
address = "198.18.64.1/24"
mtu = 9000

[vms.firecracker]
monitor = "firecracker"
memory = "256MiB"

[guests.vm0]
bridge = "vmbr0"
address = "198.18.64.83/24"
vm = "firecracker"

[guests.plain]
bridge = "vmbr0"
address = "198.18.64.84/24"

[paths.to-plain]
from = "pve"
to = "plain"
layers = ["veth", "bridge"]
baseline = true

[paths.to-vm]
from = "pve"
to = "vm0"
layers = ["virtio", "bridge"]

[workloads.throughput]
kind = "stream"
duration = "300ms"
warmup = "100ms"

[schedule]
trials = 1
pause = "1ms"
"#;

fn measured(findings: &Value) -> usize {
    findings["results"].as_array().expect("a list").len()
}

pub(crate) fn guest_is_measured() {
    let sandbox = sandbox();
    let file = sandbox.file("firecracker.toml", SCENARIO);
    let output = sandbox.plumb(&["run", &file, "--probe", "none"]);
    assert_eq!(output.status, Some(0), "{output:?}");
    assert_eq!(measured(&sandbox.findings("latest")), 2, "{output:?}");
    let record = sandbox.record();
    let trial = trials(&record)
        .iter()
        .find(|trial| trial["result"].as_str().is_some_and(|result| result.contains("to-vm")));
    let devices = &trial.expect("the trial exists")["devices"];
    let device = devices.as_array().into_iter().flatten().find(|state| state["device"] == "vm0:eth0");
    let device = device.unwrap_or_else(|| panic!("no vm0:eth0 in {devices}"));
    assert_eq!((&device["kind"], &device["mtu"]), (&"virtio".into(), &9000.into()), "{device}");
}

pub(crate) fn absence_is_no_end() {
    let sandbox = sandbox();
    let file = sandbox.file("firecracker.toml", SCENARIO);
    let output =
        sandbox.plumb(&["run", &file, "--probe", "none", "--firecracker", "/nonexistent/firecracker"]);
    assert_eq!(output.status, Some(0), "{output:?}");
    assert!(!output.err.contains("hypervisor"), "a hypervisor would lack the program too: {}", output.err);
    let findings = sandbox.findings("latest");
    assert_eq!(measured(&findings), 1, "{findings}");
    let skipped = findings["skipped"].to_string();
    for printed in ["`vm0` needs Firecracker", "/nonexistent/firecracker", "/releases", "--firecracker PATH"]
    {
        assert!(skipped.contains(printed), "`{printed}` is not in {skipped}");
    }
}

pub(crate) fn flags_of_qemu_are_refused() {
    let sandbox = sandbox();
    for (flags, printed) in [
        (&["--board", "q35"][..], "--board: not supported"),
        (&["--vhost", "on"], "handles packets itself"),
        (&["--queues", "2", "--vcpus", "2"], "one queue pair"),
        (&["--accel", "tcg"], "requires KVM"),
        (&["--vcpus", "33"], "up to 32 CPUs"),
    ] {
        let output = sandbox.plumb(&[&["vm", "run", "--monitor", "firecracker"], flags].concat());
        assert_eq!(output.status, Some(64), "{flags:?}: {output:?}");
        assert!(output.err.contains(printed), "{flags:?}: {}", output.err);
    }
    let absent = ["vm", "run", "--monitor", "firecracker", "--firecracker", "/nonexistent/firecracker"];
    let output = sandbox.plumb(&absent);
    assert_eq!(output.status, Some(3), "{output:?}");
    assert!(output.err.contains("/releases"), "{}", output.err);
}

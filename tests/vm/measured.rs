//! Tests runs that measure guests of either machine type next to namespaces.

use std::collections::BTreeSet;

use plumb_tests::{Leftovers, Output, PATIENCE, Sandbox, trials};
use serde_json::Value;

use crate::{remains::processes, sandbox};

/// A hash assigns streams to queues. With this many streams, one of two queues is unused in only one of 2^15 runs.
const MANY: u32 = 16;
/// The number of packets that may arrive between reading a device's counters and its queues' counters.
const BETWEEN: u64 = 8;

pub(crate) fn scenario(vm: &str, more: &str) -> String {
    format!(
        r#"schema = 1
name = "one-guest"
title = "A virtual machine and a namespace on one bridge"

[hosts.pve]

[bridges.vmbr0]
host = "pve"
address = "198.18.64.1/24"
mtu = 9000

[vms.kind]
{vm}

[guests.vm0]
bridge = "vmbr0"
address = "198.18.64.83/24"
vm = "kind"

[guests.plain]
bridge = "vmbr0"
address = "198.18.64.84/24"

[paths.to-vm]
from = "pve"
to = "vm0"
layers = ["virtio", "bridge"]
baseline = true

{more}
"#
    )
}

pub(crate) fn streams(streams: u32, duration: &str, trials: u32) -> String {
    format!(
        "[workloads.throughput]\nkind = \"stream\"\nstreams = {streams}\nduration = \"{duration}\"\nwarmup = \
         \"200ms\"\n\n[schedule]\ntrials = {trials}\npause = \"1ms\"\n"
    )
}

pub(crate) fn run(sandbox: &Sandbox, file: &str) -> Output {
    sandbox.plumb(&["run", file, "--probe", "none"])
}

pub(crate) fn named<'a>(list: &'a Value, device: &str) -> &'a Value {
    let found = list.as_array().into_iter().flatten().find(|one| one["device"] == device);
    found.unwrap_or_else(|| panic!("no {device} in {list}"))
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn queues_are_those_of_the_guest() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let factor = "[factors.queues]\nvary = \"queues\"\ndevices = [\"vm0:eth0\"]\nvalues = [1, 2]\n\n";
    let text = scenario("vcpus = 2", &(factor.to_owned() + &streams(MANY, "700ms", 1)));
    let output = run(&sandbox, &sandbox.file("queues.toml", &text));
    assert_eq!(output.status, Some(0), "{output:?}");
    let record = sandbox.record();
    for trial in trials(&record) {
        check_queues(trial, output.err.contains("virtual machines are emulated"));
    }
    let results: BTreeSet<&str> =
        trials(&record).iter().filter_map(|trial| trial["result"].as_str()).collect();
    assert_eq!(results.len(), 2, "{results:?}");
    let page = sandbox.succeed(&["report", "latest", "--format", "markdown"]).out;
    if output.err.contains("virtual machines are emulated") {
        assert!(page.contains("a machine at one end was emulated"), "{page}");
    }
    assert!(page.contains("vm0:eth0"), "{page}");
    assert!(processes(&sandbox).is_empty());
    before.are_gone_within(PATIENCE);
}

fn check_queues(trial: &Value, emulated: bool) {
    let result = trial["result"].as_str().expect("a name");
    let queues = if result.contains("queues=2") { 2 } else { 1 };
    let state = named(&trial["devices"], "vm0:eth0");
    assert_eq!(state["kind"], "virtio", "{result}: {state}");
    assert_eq!(state["mtu"], 9000, "{result}: {state}");
    let of_way = |way: &str| number(&state["queues"][way]);
    assert_eq!((of_way("rx"), of_way("tx")), (queues, queues), "{result}: {state}");
    let counted = named(&trial["counters"]["devices"], "vm0:eth0");
    let taken: Vec<u64> = counted["rx_queues"]
        .as_array()
        .expect("virtio counts them")
        .iter()
        .map(|q| number(&q["packets"]))
        .collect();
    let used = &taken[..queues as usize];
    assert!(used.iter().all(|packets| *packets > 0), "{result}: {counted}");
    let apart = used.iter().sum::<u64>().abs_diff(number(&counted["rx_packets"]));
    assert!(apart <= BETWEEN, "{result}: {counted}");
    assert_eq!(
        trial["warnings"].to_string().contains("\"emulated\""),
        emulated,
        "{result}: {}",
        trial["warnings"]
    );
}

pub(crate) fn microvm_answers_namespace() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let text = scenario(
        "board = \"microvm\"",
        "[workloads.latency]\nkind = \"ping-pong\"\nduration = \"500ms\"\n\n[schedule]\ntrials = 1\n",
    );
    let text = text
        .replace("from = \"pve\"", "from = \"plain\"")
        .replace("layers = [\"virtio\", \"bridge\"]", "layers = [\"veth\", \"bridge\", \"virtio\"]")
        .replace("\n[hosts.pve]", "family = [\"ipv4\", \"ipv6\"]\n\n[hosts.pve]");
    let output = run(&sandbox, &sandbox.file("microvm.toml", &text));
    assert_eq!(output.status, Some(0), "{output:?}");
    let findings = sandbox.findings("latest");
    let results = findings["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{results:?}");
    for result in results {
        assert!(number(&result["measured"]["round_trips"]["count"]) > 0, "{result}");
    }
    assert!(processes(&sandbox).is_empty());
    before.are_gone_within(PATIENCE);
}

pub(crate) fn skips_paths_without_vhost() {
    let sandbox = sandbox();
    let plain = "[paths.to-plain]\nfrom = \"pve\"\nto = \"plain\"\nlayers = [\"veth\", \"bridge\"]\n\n";
    let text = scenario("vhost = \"on\"", &(plain.to_owned() + &streams(1, "200ms", 1)));
    let output =
        sandbox.plumb(&["run", &sandbox.file("vhost.toml", &text), "--inside", "here", "--probe", "none"]);
    assert_eq!(output.status, Some(0), "{output:?}");
    let (findings, skipped) = (sandbox.findings("latest"), &sandbox.findings("latest")["skipped"]);
    let measured = findings["results"].as_array().map(Vec::len);
    let checks = sandbox.plumb(&["doctor", "--json"]).out;
    let checks: Value = serde_json::from_str(&checks).expect("a JSON document");
    let checks = checks["checks"].as_array().expect("a list");
    if checks.iter().any(|check| check["id"] == "vhost-net" && check["status"] == "works") {
        assert_eq!((measured, skipped.as_array().map(Vec::len)), (Some(2), Some(0)), "{findings}");
        return;
    }
    assert_eq!(measured, Some(1), "{findings}");
    for printed in ["virtual machine `vm0`", "vhost", "/dev/vhost-net"] {
        assert!(skipped.to_string().contains(printed), "`{printed}` is not in {skipped}");
    }
    assert!(output.err.contains("/dev/vhost-net") && !output.err.contains("emulated"), "{}", output.err);
}

pub(crate) fn shipped_grid_runs() {
    let sandbox = sandbox();
    let shown = sandbox.succeed(&["scenario", "show", "bridge-multiqueue"]).out;
    let budget = shown.find("[schedule]").expect("it has a schedule");
    let text = shown[..budget].replace("\"1s\"", "\"300ms\"") + "[schedule]\ntrials = 1\n";
    let output = run(&sandbox, &sandbox.file("grid.toml", &text));
    assert_eq!(output.status, Some(0), "{output:?}");
    let record = sandbox.record();
    let results: BTreeSet<&str> =
        trials(&record).iter().filter_map(|trial| trial["result"].as_str()).collect();
    assert_eq!(results.len(), 6, "{results:?}");
    for (trial, device) in trials(&record).iter().flat_map(|trial| ["client", "server"].map(|d| (trial, d))) {
        let queues =
            if trial["result"].as_str().is_some_and(|result| result.contains("queues=2")) { 2 } else { 1 };
        let state = named(&trial["devices"], &format!("{device}:eth0"));
        assert_eq!(number(&state["queues"]["rx"]), queues, "{state}");
    }
}

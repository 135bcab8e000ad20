//! Tests a guest's network device: requested and negotiated features, and the CPUs of its monitor's threads.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use plumb_tests::{Leftovers, PATIENCE, Sandbox, trials};
use serde_json::Value;

use crate::{
    measured::{named, number, run, scenario, streams},
    remains::{monitor, processes},
    sandbox,
};

/// A tap device's maximum: 65535 bytes minus the Ethernet header.
const LARGEST: u64 = 65_521;

/// Without these features, the driver must know the MTU before it can accept larger packets.
const PLAIN: &str = "gro = \"off\"\nmrg-rxbuf = \"off\"\nufo = \"off\"\nrx-ring = 512\n";

pub(crate) fn as_asked() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let cpus: Vec<u32> = allowed(std::process::id()).into_iter().collect();
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    let pinned = format!("{PLAIN}cpus = [{first}]\nmonitor-cpus = [{last}]\n");
    let text = scenario(&pinned, &streams(1, "300ms", 3)).replace("9000", &LARGEST.to_string());
    run_pinned(&sandbox, &sandbox.file("plain.toml", &text), (first, last));
    let record = sandbox.record();
    let trial = trials(&record).first().expect("three were made");
    assert_eq!(number(&trial["path_check"]["mtu"]), LARGEST, "{trial}");
    let state = named(&trial["devices"], "vm0:eth0");
    assert_eq!(number(&state["mtu"]), LARGEST, "{state}");
    assert_eq!(number(&state["rings"]["rx"]), 512, "{state}");
    let agreed: BTreeSet<&str> =
        state["virtio"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    for (feature, on) in [
        ("csum", true),
        ("guest_csum", true),
        ("host_tso4", true),
        ("guest_tso4", false),
        ("guest_ufo", false),
        ("host_ufo", false),
        ("mrg_rxbuf", false),
        ("version_1", true),
    ] {
        assert_eq!(agreed.contains(feature), on, "{feature}: {agreed:?}");
    }
    assert_eq!(named(&trial["devices"], "pve:vm0")["virtio"], Value::Null);
    let page = sandbox.succeed(&["report", "latest", "--format", "markdown"]).out;
    assert!(page.contains("Negotiated virtio features") && page.contains("host_tso4"), "{page}");
    before.are_gone_within(PATIENCE);
}

fn run_pinned(sandbox: &Sandbox, file: &str, (vcpu, other): (u32, u32)) {
    let mut command = sandbox.command(&["run", file, "--probe", "none"]);
    let mut controller =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    let mut lines = BufReader::new(controller.stderr.take().expect("stderr is piped"));
    let (mut line, mut printed) = (String::new(), String::new());
    while !line.contains("[1/") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("text") > 0, "no trial: {printed}");
        printed.push_str(&line);
    }
    let threads = threads(monitor(sandbox).expect("it is in its trials"));
    lines.read_to_string(&mut printed).expect("text");
    assert_eq!(controller.wait().expect("it was started").code(), Some(0), "{printed}");
    assert!(threads.iter().any(|(name, _)| name.starts_with("CPU 0")), "{threads:?}");
    for (name, allowed) in &threads {
        let cpu = if name.starts_with("CPU ") { vcpu } else { other };
        assert_eq!(*allowed, BTreeSet::from([cpu]), "{name} of {threads:?}");
    }
}

fn threads(pid: u32) -> Vec<(String, BTreeSet<u32>)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").filter_map(Result::ok);
    let thread = |task: fs::DirEntry| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        Some((name.trim_end().to_owned(), allowed(task.file_name().to_str()?.parse().ok()?)))
    };
    tasks.filter_map(thread).collect()
}

fn allowed(thread: u32) -> BTreeSet<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).expect("it runs");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("Linux");
    let run = |run: &str| {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        first.parse().expect("a number")..=last.parse().expect("a number")
    };
    list.trim().split(',').flat_map(run).collect()
}

pub(crate) fn not_taken() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    // QEMU silently limits the size of the ring for a tap device.
    let text = scenario("tx-ring = 1024", &streams(1, "300ms", 1));
    let output = run(&sandbox, &sandbox.file("ring.toml", &text));
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(output.err.contains("virtual machine `vm0` has tx-ring 256 instead of 1024"), "{}", output.err);
    assert!(processes(&sandbox).is_empty());
    before.are_gone_within(PATIENCE);
}

const PING: &str = "[workloads.latency]\nkind = \"ping-pong\"\nduration = \"200ms\"\nwarmup = \"50ms\"\n\n\
                    [schedule]\ntrials = 2\npause = \"1ms\"\n";

fn factor(word: &str, values: &str) -> String {
    format!("[factors.{word}]\nvary = \"{word}\"\ndevices = [\"vm0:eth0\"]\nvalues = {values}\n\n")
}

fn carried(trial: &Value) -> String {
    let counted = named(&trial["counters"]["devices"], "vm0:eth0");
    let passed = ["rx_packets", "tx_packets"].map(|way| number(&counted[way]));
    assert!(passed.iter().all(|packets| *packets > 3), "no message passes: {trial}");
    trial["result"].as_str().expect("a name").to_owned()
}

fn rings(sandbox: &Sandbox) -> (BTreeSet<(String, u64, u64)>, String) {
    let record = sandbox.record();
    let of_trial = |trial: &Value| {
        let result = carried(trial);
        let rings = &named(&trial["devices"], "vm0:eth0")["rings"];
        (result, number(&rings["rx"]), number(&rings["tx"]))
    };
    (trials(&record).iter().map(of_trial).collect(), record["skipped"].to_string())
}

pub(crate) fn ring_sizes() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let more = factor("rx-ring", "[64, 1024]") + &factor("tx-ring", "[128, 1024]") + PING;
    let output = run(&sandbox, &sandbox.file("rings.toml", &scenario("", &more)));
    assert_eq!(output.status, Some(0), "{output:?}");
    let (had, skipped) = rings(&sandbox);
    let result = |rx: u64| (format!("to-vm/latency/rx-ring={rx},tx-ring=128"), rx, 128);
    assert_eq!(had, BTreeSet::from([result(64), result(1024)]), "{skipped}");
    assert!(skipped.contains("a transmit ring of 1024 entries: the device has at most 256"), "{skipped}");
    let page = sandbox.succeed(&["report", "latest", "--format", "markdown"]).out;
    assert!(page.contains("1024/128"), "{page}");
    // Without PCI, QEMU provides the largest ring.
    let more = factor("rx-ring", "[1024, 128]") + PING;
    let output = run(&sandbox, &sandbox.file("fixed.toml", &scenario("board = \"microvm\"", &more)));
    assert_eq!(output.status, Some(0), "{output:?}");
    let (had, skipped) = rings(&sandbox);
    assert_eq!(had, BTreeSet::from([("to-vm/latency/rx-ring=1024".to_owned(), 1024, 1024)]), "{skipped}");
    assert!(skipped.contains("cannot reset a single queue"), "{skipped}");
    before.are_gone_within(PATIENCE);
}

/// The driver accepts some values only while the device is up, others only while it is down, and none that its
/// monitor does not offer.
pub(crate) fn coalescing() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let more = factor("tx-frames", "[1, 0]") + &factor("rx-usecs", "[0, 50]") + PING;
    let output = run(&sandbox, &sandbox.file("coalescing.toml", &scenario("", &more)));
    assert_eq!(output.status, Some(0), "{output:?}");
    let record = sandbox.record();
    let of_trial = |trial: &Value| {
        let had = &named(&trial["devices"], "vm0:eth0")["coalescing"];
        let [rx_frames, rx_usecs] = ["rx_frames", "rx_usecs"].map(|name| number(&had[name]));
        assert_eq!((rx_frames, rx_usecs), (1, 0), "virtio's defaults: {had}");
        (carried(trial), had["tx_frames"].as_u64().unwrap_or(0))
    };
    let had: BTreeSet<(String, u64)> = trials(&record).iter().map(of_trial).collect();
    let result = |frames: u64| (format!("to-vm/latency/tx-frames={frames},rx-usecs=0"), frames);
    let skipped = record["skipped"].to_string();
    assert_eq!(had, BTreeSet::from([result(0), result(1)]), "{skipped}");
    assert!(skipped.contains("only rx-frames 1 and tx-frames 0 or 1"), "{skipped}");
    let page = sandbox.succeed(&["report", "latest", "--format", "markdown"]).out;
    assert!(page.contains("Coalescing"), "{page}");
    before.are_gone_within(PATIENCE);
}

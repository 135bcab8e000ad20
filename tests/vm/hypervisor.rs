//! Tests runs in a virtual hypervisor: guests that need nested KVM, and the cleanup after the hypervisor
//! dies.

use std::{
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use plumb_tests::{Sandbox, signal, trials};
use serde_json::Value;

use crate::{
    measured::{number, scenario},
    remains::{Remains, monitor, processes},
    sandbox,
};

/// The minimum number of system calls per message if QEMU itself carries the packets.
const MANY: f64 = 3.0;

/// Two namespaces on a bridge, and two on a VLAN device that sorts before its parent by name.
const WIRE: &str = r#"schema = 1
name = "inside"
title = "Two namespaces on a bridge in a virtual hypervisor"

[hosts.pve]

[bridges.vmbr0]
host = "pve"

[guests.client]
bridge = "vmbr0"
address = "198.18.64.83/24"

[guests.server]
bridge = "vmbr0"
address = "198.18.64.84/24"

[hosts.far]

[wires.trunk]
between = ["pve:eth0", "far:eth0"]

[vlans.v10-pve]
host = "pve"
over = "eth0"
id = 10
address = "198.18.1.1/24"

[vlans.a10-far]
host = "far"
over = "eth0"
id = 10
address = "198.18.1.2/24"

[paths.guest-to-guest]
from = "client"
to = "server"
layers = ["veth", "bridge"]
baseline = true

[paths.tagged]
from = "pve"
to = "far"
layers = ["vlan", "wire"]

[workloads.latency]
kind = "ping-pong"
duration = "200ms"
warmup = "50ms"

[schedule]
trials = 16
pause = "1ms"
"#;

/// Write-up 004 reports 0.007 system calls per message with vhost, and 8.3 without.
pub(crate) fn vhost_saves_calls() {
    let sandbox = sandbox();
    let paths = ["--path", "host-to-vm", "--path", "host-to-vm-vhost", "--workload", "latency"];
    let output =
        sandbox.plumb(&[&["run", "vhost", "--inside", "hypervisor", "--trials", "1"], &paths[..]].concat());
    assert_eq!(output.status, Some(0), "{output:?}");
    assert!(output.err.contains("running in an emulated virtual hypervisor"), "{}", output.err);
    let record = sandbox.record();
    assert_eq!(record["header"]["environment"]["inside"], "requested with --inside");
    let mut worker_times = [0; 2];
    for trial in trials(&record) {
        assert!(trial["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()), "{trial:#}");
        if trial["arm"] == "probed" {
            let with_vhost = trial["result"].as_str().is_some_and(|result| result.contains("vhost"));
            worker_times[usize::from(with_vhost)] += worker_time(trial);
        }
    }
    // The other guest receives a few packets too, e.g. neighbour solicitations.
    let [without, with] = worker_times;
    assert!(with > 10 * without, "{without} ns without vhost, {with} ns with it");
    let findings = sandbox.findings("latest");
    for result in findings["results"].as_array().expect("a list") {
        let (calls, packets) = (calls_per_message(result), packets_written_per_message(result));
        if result["path"].as_str().is_some_and(|path| path.contains("vhost")) {
            // Timers and the agent's channel also cause calls. The number of such calls per message depends
            // on the speed.
            assert_eq!(packets, 0.0, "{}: written by QEMU, {calls} calls a message", result["id"]);
        } else {
            assert!(packets > 0.9 && calls > MANY, "{}: {packets} of {calls} calls a message", result["id"]);
        }
    }
    let page = sandbox.succeed(&["report", "latest", "--full"]).out;
    assert!(page.contains("vhost workers") && page.contains("in a virtual hypervisor"), "{page}");
}

/// Uses a microvm, because its devices interrupt the vCPU's ioctl. On q35, one ioctl may last for the whole trial.
pub(crate) fn guest_time_is_neither_work_nor_wait() {
    let sandbox = sandbox();
    let ping = "[workloads.latency]\nkind = \"ping-pong\"\nduration = \"500ms\"\nwarmup = \"100ms\"\n\n\
                [schedule]\ntrials = 1\npause = \"1ms\"\n";
    let file = sandbox.file("microvm.toml", &scenario("board = \"microvm\"\nmemory = \"256MiB\"", ping));
    let output = sandbox.plumb(&["run", &file, "--inside", "hypervisor", "--probe", "syscalls"]);
    assert_eq!(output.status, Some(0), "{output:?}");
    let record = sandbox.record();
    let watched = trials(&record).iter().find(|trial| trial["arm"] == "probed");
    let watched = watched.unwrap_or_else(|| panic!("not watched: {}", output.err));
    let calls = watched["observed"]["syscalls"].as_array().expect("a list").iter();
    let mut of_cpu = calls.filter(|call| call["thread"] == "CPU 0/KVM" && call["call"] == "ioctl");
    let run = of_cpu.next().expect("KVM runs the guest in a call");
    let [guest, running, waiting] = ["guest", "running", "waiting"].map(|part| number(&run[part]));
    assert!(guest > 0 && waiting > 0, "{run:#}");
    assert_eq!(guest + running + waiting, number(&run["total"]), "{run:#}");
}

fn worker_time(trial: &Value) -> u64 {
    let shares = trial["observed"]["cpu"]["shares"].as_array().expect("CPU time is split by owner").iter();
    let of_worker = shares.filter(|share| share["consumer"] == "vhost");
    let named = |share: &&Value| share["thread"].as_str().is_some_and(|thread| thread.starts_with("vhost-"));
    of_worker.filter(named).map(|share| number(&share["time"])).sum()
}

fn calls_per_message(result: &Value) -> f64 {
    let ends = result["probed"]["calls"]["ends"].as_array().expect("calls were counted");
    let of_monitor = ends.iter().filter(|end| end["end"] == "server" && is_monitor(end));
    of_monitor.filter_map(|end| end["rate"].as_f64()).sum()
}

fn packets_written_per_message(result: &Value) -> f64 {
    let rows = result["probed"]["calls"]["processes"].as_array().expect("calls were counted");
    let written = rows.iter().filter(|row| {
        let count = &row["count"];
        count["end"] == "server" && is_monitor(count) && count["call"] == "writev"
    });
    written.filter_map(|row| row["rate"].as_f64()).sum()
}

fn is_monitor(end: &Value) -> bool {
    end["process"].as_str().is_some_and(|process| process.starts_with("qemu"))
}

fn ended(sandbox: &Sandbox, args: &[&str], how: impl FnOnce(u32, u32)) -> (Option<i32>, String) {
    let mut command = sandbox.command(args);
    let mut controller =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    let mut lines = BufReader::new(controller.stderr.take().expect("stderr is piped"));
    let mut printed = String::new();
    while !printed.lines().any(|line| line.starts_with('[')) {
        assert!(lines.read_line(&mut printed).expect("text") > 0, "the run ended by itself: {printed}");
    }
    how(controller.id(), monitor(sandbox).expect("it is in its trials"));
    lines.read_to_string(&mut printed).expect("text");
    (controller.wait().expect("it was started").code(), printed)
}

pub(crate) fn finished_trials_survive_their_hypervisor() {
    let before = Remains::now();
    let sandbox = sandbox();
    let file = sandbox.file("inside.toml", WIRE);
    let run = ["run", &file, "--inside", "hypervisor"];
    let (status, printed) = ended(&sandbox, &run, |controller, _| signal(controller, "INT"));
    assert_eq!(status, Some(130), "{printed}");
    let (status, printed) = ended(&sandbox, &["run", "--resume"], |_, hypervisor| signal(hypervisor, "KILL"));
    assert_eq!(status, Some(1), "{printed}");
    assert!(
        printed.contains("lost the agent of host hypervisor") && printed.contains("--resume"),
        "{printed}"
    );
    assert!(processes(&sandbox).is_empty(), "a hypervisor still runs");
    assert!(trials(&sandbox.record()).len() >= 2, "{printed}");
    let output = sandbox.plumb(&["run", "--resume"]);
    assert_eq!(output.status, Some(0), "{output:?}");
    assert!(
        output.err.contains("running in an emulated virtual hypervisor"),
        "a run resumes in the hypervisor: {}",
        output.err
    );
    let record = sandbox.record();
    assert_eq!(trials(&record).len() as u64, number(&record["header"]["planned"]));
    assert!(packets_of_vlan(&record).iter().all(|packets| *packets > 3), "{record:#}");
    let (status, printed) = ended(&sandbox, &run, |controller, _| signal(controller, "KILL"));
    assert_eq!(status, None, "{printed}");
    before.has_only_gained(&sandbox, &["inside.toml", "runs.db"]);
}

fn packets_of_vlan(record: &Value) -> Vec<u64> {
    let of_path =
        |trial: &&Value| trial["result"].as_str().is_some_and(|result| result.starts_with("tagged/"));
    let trials: Vec<&Value> = trials(record).iter().filter(of_path).collect();
    assert!(!trials.is_empty(), "no trial over the VLAN: {record:#}");
    let devices = trials.iter().flat_map(|trial| trial["counters"]["devices"].as_array().expect("a list"));
    let of_vlan = |device: &&Value| device["device"].as_str().is_some_and(|at| at.contains("10-"));
    let packets: Vec<u64> = devices
        .filter(of_vlan)
        .flat_map(|at| ["rx_packets", "tx_packets"].map(|way| number(&at[way])))
        .collect();
    assert_eq!(packets.len(), 4 * trials.len(), "two devices, two directions each");
    packets
}

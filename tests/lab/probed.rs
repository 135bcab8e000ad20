//! Tests that runs with probes survive the loss of the observer.

use std::{collections::BTreeMap, fs, process::Stdio};

use plumb_tests::{Leftovers, kills::kept, signal, trials, wait_until, wire, wire_with_latency};
use serde_json::Value;

use crate::{PATIENCE, measured::unprivileged, sandbox};

fn arms(record: &Value) -> BTreeMap<&str, usize> {
    let mut arms = BTreeMap::new();
    for trial in trials(record) {
        *arms.entry(trial["arm"].as_str().expect("a word")).or_default() += 1;
    }
    arms
}

pub(crate) fn probed_trials_have_probe_data() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let file = sandbox.file("both.toml", &wire_with_latency(3, "300ms"));
    let output = sandbox.succeed(&["run", &file, "--probe", "all"]);
    assert!(output.err.contains("(with probes)"), "{}", output.err);
    let record = sandbox.record();
    assert_eq!(record["header"]["probes"], serde_json::json!(["cpu", "syscalls", "packet-way"]));
    assert_eq!(record["header"]["missing_probes"], serde_json::json!([]));
    assert_eq!(arms(&record), BTreeMap::from([("measure", 6), ("again", 6), ("probed", 6)]));
    for trial in trials(&record) {
        check_counters(trial);
        match trial["arm"].as_str() {
            Some("probed") => check_observed(trial),
            _ => assert!(trial["observed"].is_null(), "{trial}"),
        }
    }
    let attributed = |consumer: &str| {
        let shares = trials(&record).iter().filter_map(|trial| trial["observed"]["cpu"]["shares"].as_array());
        shares.flatten().any(|share| share["consumer"] == consumer)
    };
    assert!(attributed("client") && attributed("server"), "both ends had CPU time");
    before.are_gone_within(PATIENCE);
}

fn check_counters(trial: &Value) {
    let devices = trial["counters"]["devices"].as_array().expect("a list");
    let names: Vec<&str> = devices.iter().filter_map(|device| device["device"].as_str()).collect();
    assert_eq!(names, ["left:eth0", "right:eth0"], "{trial}");
    for (one, other) in [(0, 1), (1, 0)] {
        let count = |at: usize, what: &str| devices[at][what].as_u64().expect("a count");
        assert!(count(one, "tx_packets") > 20, "{devices:?}");
        // plumb reads the counters one after another, so a neighbour discovery may come in between.
        let missed = count(one, "tx_packets").abs_diff(count(other, "rx_packets"));
        assert!(missed <= 3, "sent packets are received: {devices:?}");
        assert_eq!(count(one, "tx_dropped") + count(one, "rx_errors"), 0);
        assert!(devices[one]["qdisc"]["kind"].is_string(), "{devices:?}");
    }
    assert!(trial["counters"]["softnet"]["processed"].as_u64().is_some_and(|packets| packets > 0), "{trial}");
}

fn check_observed(trial: &Value) {
    let observed = &trial["observed"];
    let is_ping = trial["result"].as_str().is_some_and(|result| result.contains("latency"));
    assert!(observed["elapsed"].as_u64().is_some_and(|elapsed| elapsed > 400_000_000), "{observed}");
    assert!(observed["cpu"]["busy"].as_u64().is_some_and(|busy| busy > 0), "{observed}");
    let calls = observed["syscalls"].as_array().expect("a list");
    for end in ["client", "server"] {
        assert!(
            calls.iter().any(|call| call["end"] == end && call["calls"].as_u64() > Some(20)),
            "{end}: {calls:?}"
        );
    }
    assert_eq!(observed["latency_breakdown"].is_object(), is_ping, "{}", observed["latency_breakdown"]);
    if is_ping {
        let steps = observed["latency_breakdown"]["steps"].as_array().expect("a list");
        assert!(
            observed["latency_breakdown"]["followed"].as_u64() > Some(0) && steps.len() >= 4,
            "{}",
            observed["latency_breakdown"]
        );
    }
}

pub(crate) fn killed_observer_ends_no_run() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let file = sandbox.file("long.toml", &wire(6, "400ms"));
    let command = &mut sandbox.command(&["run", &file, "--probe", "cpu,syscalls"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    let observer = || {
        let now = Leftovers::of(&sandbox).processes;
        now.difference(&before.processes).copied().find(|pid| *pid != run.id() && is_outside(*pid))
    };
    let watched = || observer().is_some() && kept(&sandbox) > 0;
    assert!(wait_until(PATIENCE, watched), "no observer, or no trial");
    signal(observer().expect("the observer runs"), "KILL");
    let output = run.wait_with_output().expect("it was started");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert_eq!(printed.matches("continuing without probes").count(), 1, "{printed}");
    let record = sandbox.record();
    let arms = arms(&record);
    assert_eq!((arms["measure"], arms["again"]), (6, 6), "trials without probes stay complete");
    assert!(arms.get("probed").is_none_or(|probed| *probed < 6), "{arms:?}");
    let watched = trials(&record).iter().filter(|trial| trial["arm"] == "probed");
    assert!(watched.into_iter().all(|trial| trial["observed"].is_object()), "no probed trial is incomplete");
    assert_eq!(record["header"]["state"], "complete");
    before.are_gone_within(PATIENCE);
}

fn is_outside(pid: u32) -> bool {
    let namespace = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    namespace(&pid.to_string()).is_some_and(|theirs| Some(theirs) == namespace("self"))
}

pub(crate) fn killed_controller_unloads_its_probes() {
    let sandbox = sandbox();
    let before = Leftovers::of(&sandbox);
    let file = sandbox.file("long.toml", &wire(20, "400ms"));
    let mut run = sandbox.start(&["run", &file, "--probe", "cpu,syscalls"]);
    let loaded =
        || Leftovers::of(&sandbox).processes.difference(&before.processes).any(|pid| holds_programs(*pid));
    let begun = || loaded() && kept(&sandbox) > 0;
    assert!(wait_until(PATIENCE, begun), "no program was loaded, or no trial stored");
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    // No program is pinned, so all programs disappear with the process.
    before.are_gone_within(PATIENCE);
    let resumed = sandbox.succeed(&["run", "--resume", "--quiet"]);
    assert!(!resumed.err.contains("plans differ"), "{}", resumed.err);
    assert_eq!(arms(&sandbox.record()), BTreeMap::from([("measure", 20), ("again", 20), ("probed", 7)]));
}

fn holds_programs(pid: u32) -> bool {
    let descriptors =
        fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().filter_map(Result::ok);
    let is_program = |text: String| text.lines().any(|line| line.starts_with("prog_type:"));
    descriptors.filter_map(|file| fs::read_to_string(file.path()).ok()).any(is_program)
}

pub(crate) fn names_probes_without_privileges_once() {
    let sandbox = sandbox();
    let file = sandbox.file("both.toml", &wire_with_latency(2, "200ms"));
    let output = unprivileged(&sandbox, &["run", &file, "--probe", "syscalls,packet-way"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert_eq!(printed.matches("without probe").count(), 1, "{printed}");
    assert!(printed.contains("[8/8]") && !printed.contains("(with probes)"), "{printed}");
    let record = sandbox.record();
    assert_eq!(arms(&record), BTreeMap::from([("measure", 4), ("again", 4)]));
    assert_eq!(record["header"]["planned"], 8);
    let missing = record["header"]["missing_probes"].as_array().expect("a list");
    assert!(missing.len() == 2 && missing.iter().all(|probe| probe["reason"].is_string()), "{missing:?}");
}

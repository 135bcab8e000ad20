//! Tests runs with competing load: plumb identifies the process and repeats disturbed trials.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    time::Duration,
};

use plumb_tests::{OtherWork, Sandbox, agents, signal, trials, wait_until, wire};
use serde_json::Value;

use crate::sandbox;

fn disturbers(causes: impl IntoIterator<Item = Value>) -> Vec<String> {
    let disturbed = causes.into_iter().filter(|cause| cause["kind"] == "disturbed");
    let by = disturbed.flat_map(|cause| cause["processes"].as_array().expect("a list").clone());
    by.filter_map(|one| one["process"].as_str().map(str::to_owned)).collect()
}

fn warnings(trial: &Value) -> Vec<Value> {
    trial["warnings"].as_array().expect("a list").clone()
}

fn discarded(trial: &Value) -> Vec<Value> {
    let attempts = trial["discarded"].as_array().into_iter().flatten();
    attempts.map(|attempt| attempt["reason"].clone()).collect()
}

/// Keeps both CPUs of a two-CPU machine busy, so that traffic gets less than half of the CPU time.
fn noise(sandbox: &Sandbox) -> Vec<OtherWork> {
    OtherWork::on_cpus(std::thread::available_parallelism().map_or(2, usize::from), sandbox.home())
}

pub(crate) fn names_a_burst_and_repeats_its_trials() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(16, "400ms"));
    let mut command = sandbox.command(&["run", &file]);
    command.env_remove("PLUMB_KEEP_DISTURBED").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut noise = Some(noise(&sandbox));
    let mut run = command.spawn().expect("plumb was built");
    let mut printed = String::new();
    for line in BufReader::new(run.stderr.take().expect("stderr is piped")).lines() {
        let line = line.expect("text");
        noise.take_if(|_| line.starts_with("[5/"));
        printed.push_str(&line);
        printed.push('\n');
    }
    assert_eq!(run.wait().expect("it was started").code(), Some(0), "{printed}");
    let record = sandbox.record();
    let named = |causes: Vec<Value>| disturbers(causes).iter().any(|name| name == OtherWork::NAME);
    // The trial is stored with the cause if other tests keep the CPUs busy.
    let again = trials(&record).iter().filter(|trial| named(discarded(trial))).count();
    let kept = trials(&record).iter().filter(|trial| named(warnings(trial))).count();
    assert!(again + kept > 0, "{printed}");
    assert!(kept == 0 || printed.contains("other processes still use the CPUs"), "{printed}");
    if again > 0 {
        assert!(printed.contains(&format!("disturbed by `{}`", OtherWork::NAME)), "{printed}");
        let limitations = sandbox.findings("latest")["limitations"].to_string();
        assert!(limitations.contains("repeated") && limitations.contains(OtherWork::NAME), "{limitations}");
    }
}

pub(crate) fn run_under_load_warns_and_a_gate_is_undecided() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(5, "300ms"));
    let _ = sandbox.succeed(&["run", &file, "--quiet"]);
    let _ = sandbox.succeed(&["baseline", "set", "before", "latest"]);
    let noise = noise(&sandbox);
    let _ = sandbox.succeed(&["run", &file, "--quiet"]);
    drop(noise);
    let findings = sandbox.findings("latest");
    let first = &findings["findings"][0];
    assert_eq!((&first["id"], &first["severity"]), (&"disturbed".into(), &"serious".into()), "{findings}");
    // The record lists only the competing processes with the most CPU time, e.g. if tests run in parallel.
    let by = disturbers(trials(&sandbox.record()).iter().flat_map(warnings));
    let is_named = |text: &str| by.iter().any(|name| text.contains(&format!("`{name}`")));
    assert!(by.iter().any(|name| name == OtherWork::NAME) || by.len() >= 3, "{by:?}");
    assert!(is_named(first["detail"].as_str().expect("text")), "{first}");
    for result in findings["results"].as_array().expect("results") {
        let cpus = |part: &str| result["cpu"][part].as_f64().expect("a number");
        assert!(cpus("others") > 0.2 && cpus("busy") + cpus("others") < cpus("cpus") + 0.2, "{result}");
    }
    let check = sandbox.plumb(&["check", "latest", "--against", "before"]);
    assert!(check.status == Some(2) && is_named(&check.out), "{check:?}");
}

pub(crate) fn repeats_a_trial_with_a_stopped_agent() {
    let sandbox = sandbox();
    // The trials are long compared with the pauses between them.
    let file = sandbox.file("wire.toml", &wire(8, "1500ms"));
    let mut run = sandbox.start(&["run", &file]);
    assert!(wait_until(Duration::from_secs(20), || agents(&sandbox).len() == 3), "no agents were started");
    for round in 0..6 {
        std::thread::sleep(Duration::from_millis(700));
        let Some(agent) = agents(&sandbox).get(round % 3).copied() else { break };
        signal(agent, "STOP");
        std::thread::sleep(Duration::from_secs(1));
        signal(agent, "CONT");
    }
    assert_eq!(run.wait().expect("it was started").code(), Some(0));
    let record = sandbox.record();
    let stalled = |causes: Vec<Value>| causes.iter().any(|cause| cause["kind"] == "stalled");
    assert!(trials(&record).iter().any(|trial| stalled(discarded(trial))), "{record}");
    // A trial that stops three times in a row is stored with the cause.
    let kept = trials(&record).iter().filter(|trial| stalled(warnings(trial))).collect::<Vec<_>>();
    assert!(kept.iter().all(|trial| discarded(trial).len() == 2), "{record}");
}

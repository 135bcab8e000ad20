//! Tests adaptive runs, and the trials of remedies after a run.

use std::{collections::BTreeSet, thread, time::Duration};

use plumb_tests::{in_one_of_three, kills::kept, trials, wait_until, wire};
use serde_json::Value;

use crate::{PATIENCE, sandbox};

const SIZES: &str =
    "[factors.message]\nvary = \"message\"\nvalues = [64, \"512\", \"4KiB\", \"128KiB\", \"1MiB\"]\n";

fn sweep(schedule: &str) -> String {
    wire(12, "150ms").replace("[schedule]\n", &format!("{SIZES}[schedule]\n{schedule}\n"))
}

pub(crate) fn run_with_precision_stops_early() {
    in_one_of_three(runs_stop_early);
}

fn runs_stop_early() {
    let sandbox = sandbox();
    let file = sandbox.file("sweep.toml", &sweep("precision = \"40%\"\nobjective = \"max\""));
    let checked = sandbox.succeed(&["scenario", "check", &file]).out;
    assert!(checked.contains("first every result twice") && checked.contains("up to"), "{checked}");
    let output = sandbox.succeed(&["run", &file]);
    assert!(output.err.contains("of 5 results can still change the outcome"), "{}", output.err);
    let record = sandbox.record();
    let (planned, made) = (record["header"]["planned"].as_u64().expect("a count"), trials(&record).len());
    assert_eq!(
        (planned, &record["header"]["state"]),
        (72, &Value::from("complete")),
        "12 blocks of 5 and 1 again"
    );
    assert!(made < 60, "{made} of {planned} trials were made");
    let ends = record["ends"].as_array().expect("a list");
    assert_eq!(ends.len(), 5, "each result has its reason: {ends:?}");
    let settled = |end: &&Value| end["reason"]["kind"] == "settled";
    // At least one small write is excluded early.
    let smallest = |result: &str| result.ends_with("=64") || result.ends_with("=512");
    let mut small = ends.iter().filter(|end| end["result"].as_str().is_some_and(smallest));
    assert!(small.any(|end| settled(&end)), "{ends:?}");
    let design = sandbox.succeed(&["report", "--section", "design"]).out;
    assert!(design.contains("How trials were chosen"), "{design}");
}

pub(crate) fn killed_run_with_budget() {
    let sandbox = sandbox();
    let file = sandbox.file("sweep.toml", &sweep(""));
    let mut run = sandbox.start(&["run", &file, "--budget", "12s", "--objective", "max"]);
    assert!(wait_until(PATIENCE, || kept(&sandbox) > 0), "no trial was stored");
    thread::sleep(Duration::from_secs(3));
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    let before: Vec<Value> = trials(&sandbox.record()).iter().map(|trial| trial["index"].clone()).collect();
    let _ = sandbox.succeed(&["run", "--resume", "--quiet"]);
    let record = sandbox.record();
    let after: Vec<Value> = trials(&record).iter().map(|trial| trial["index"].clone()).collect();
    assert_eq!(after[..before.len()], before, "stored trials are unchanged");
    let once: BTreeSet<u64> = after.iter().filter_map(Value::as_u64).collect();
    assert!(once.len() == after.len() && after.len() > before.len(), "no trial is made twice: {after:?}");
    assert_eq!(record["header"]["design"]["budget"], 12_000_000_000_u64);
    assert_eq!(record["header"]["state"], "complete");
    let span = |from: usize, to: usize| {
        let began = |at: usize| trials(&record)[at]["started"].as_i64().expect("a time");
        began(to) - began(from)
    };
    let spent = span(0, before.len() - 1) + span(before.len(), after.len() - 1);
    assert!(spent < 12_500, "{spent} ms of 12 s, the break not counted");
    let ends = record["ends"].as_array().expect("a list");
    assert!(ends.iter().any(|end| end["reason"]["kind"] == "budget"), "{ends:?}");
}

pub(crate) fn two_settings_compete() {
    let sandbox = sandbox();
    let file = sandbox.file("sweep.toml", &sweep(""));
    let [slow, fast] = ["message=64", "message=1MiB"].map(|setting| format!("{file}:{setting}"));
    let output = sandbox.succeed(&["vs", &slow, &fast, "--trials", "6"]);
    let answer = output.out.trim_end().lines().rev().take(3).collect::<Vec<_>>();
    let answer = answer.into_iter().rev().collect::<Vec<_>>().join(" ");
    let order = [format!("{fast} is "), " times (".into(), ") faster than ".into(), slow];
    assert!(order.iter().map(|part| answer.find(part)).is_sorted() && answer.contains(&order[0]), "{answer}");
}

pub(crate) fn killed_contest_is_resumed() {
    let sandbox = sandbox();
    let file = sandbox.file("sweep.toml", &sweep(""));
    let [slow, fast] = ["message=64", "message=1MiB"].map(|setting| format!("{file}:{setting}"));
    let mut run = sandbox.start(&["vs", &slow, &fast, "--trials", "20"]);
    assert!(wait_until(PATIENCE, || kept(&sandbox) > 0), "no trial was stored");
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
    let _ = sandbox.succeed(&["run", "--resume", "--quiet"]);
    let record = sandbox.record();
    assert_eq!(record["header"]["state"], "complete");
    assert_eq!(trials(&record).len(), 60, "20 blocks of 2 and the baseline again");
}

pub(crate) fn ports_are_fixed_or_vary() {
    let sandbox = sandbox();
    let two = wire(3, "100ms").replace("placement = \"same-cpu\"", "placement = \"same-cpu\"\nstreams = 2");
    for (ports, different) in [("fixed", 2), ("vary", 2 * 6)] {
        let text = two.replace("[schedule]\n", &format!("[schedule]\nports = \"{ports}\"\n"));
        let file = sandbox.file(&format!("{ports}.toml"), &text);
        let _ = sandbox.succeed(&["run", &file, "--quiet"]);
        let record = sandbox.record();
        let flows =
            trials(&record).iter().flat_map(|trial| trial["measurement"]["flows"].as_array().expect("flows"));
        let pairs: Vec<String> =
            flows.map(|flow| flow["sender"]["socket"]["addresses"].to_string()).collect();
        assert_eq!(pairs.len(), 2 * 6, "three trials, then three more");
        let all: BTreeSet<&String> = pairs.iter().collect();
        assert_eq!(all.len(), different, "{ports}: {all:?}");
    }
}

pub(crate) fn remedy_is_tried() {
    in_one_of_three(remedies_are_tried);
}

fn remedies_are_tried() {
    let sandbox = sandbox();
    let factor = "[factors.offload]\nvary = \"offload\"\ndevices = [\"left:eth0\", \"right:eth0\"]\n\
                  values = [\"on\", \"off\"]\n";
    let text = wire(7, "300ms").replace("[schedule]\n", &format!("{factor}[schedule]\n"));
    let file = sandbox.file("offload.toml", &text);
    let _ = sandbox.succeed(&["run", &file]);
    let sandbox = sandbox.as_undisturbed(|record| {
        record["header"]["state"] = "unfinished".into();
        record["trials"].as_array_mut().expect("a list").pop();
    });
    let _ = sandbox.succeed(&["run", "--resume", "--try-remedies"]);
    let sandbox = sandbox.as_undisturbed(|_| ());
    let output = sandbox.succeed(&["report", "latest", "--full"]);
    let tried = output.out.contains("Tried: ") && output.out.contains("in wire, offload=off:");
    assert!(tried, "{}", output.out);
    let latest = sandbox.findings("latest");
    let main = latest["run"]["id"].as_str().expect("a name").to_owned();
    assert!(!main.ends_with("-remedies"), "`latest` is the run itself, not that of its remedies");
    for findings in [&latest, &sandbox.findings(&main)] {
        let claims = findings["findings"].as_array().expect("claims");
        let claim = claims.iter().find(|claim| claim["id"] == "offload-off").expect("a finding");
        let effects = &claim["remedy"]["effects"][0];
        // Under competing load, the baseline may vary by more than the remedy's effect.
        let comparison = &effects["comparison"];
        assert!(comparison["verdict"] == "higher" || comparison["verdict"] == "unclear", "{claim}");
        assert!(comparison["ratio_interval"]["low"].as_f64() > Some(1.0), "{claim}");
        assert!(effects["after"].as_f64() > effects["before"].as_f64(), "{claim}");
    }
}

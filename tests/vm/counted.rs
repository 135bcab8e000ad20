//! Counts instructions in an emulated machine.

use std::{collections::BTreeMap, time::Duration};

use plumb_tests::{COUNTED_SCENARIO, Sandbox, kills::kept, trials, wait_until};
use serde_json::Value;

use crate::{measured::number, sandbox};

const COUNTED_TRIAL: Duration = Duration::from_secs(300);
/// The largest difference between the medians of two runs.
const SPREAD: f64 = 0.01;

pub(crate) fn counts_repeat() {
    let sandbox = sandbox();
    let file = sandbox.file("counted.toml", COUNTED_SCENARIO);
    let mut counts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut runs = Vec::new();
    for is_killed in [true, false] {
        let run = ["run", &file, "--count", "--trials", "3", "--plain", "--quiet"];
        if is_killed {
            kill_after_a_trial(&sandbox, &run);
            runs.push(sandbox.succeed(&["run", "--resume", "--plain", "--quiet"]).out.trim().to_owned());
        } else {
            runs.push(sandbox.succeed(&run).out.trim().to_owned());
        }
        let blocks: Vec<u64> =
            trials(&sandbox.record()).iter().map(|trial| number(&trial["block"])).collect();
        assert!(blocks.is_sorted() && (0..3).all(|block| blocks.contains(&block)), "{blocks:?}");
        for result in results(&sandbox) {
            let median = result["value"]["estimate"].as_f64().expect("a number");
            counts.entry(result["id"].to_string()).or_default().push(median);
            adds_up(&result);
        }
        for trial in trials(&sandbox.record()) {
            let counted = &trial["instructions"];
            let functions = counted["functions"].as_array().expect("a list").iter();
            let named: u64 = functions.map(|it| number(&it["instructions"])).sum();
            let total = number(&counted["total"]);
            assert!(named <= total && named as f64 > 0.95 * total as f64, "{named} of {total}");
        }
    }
    for (result, medians) in counts {
        let difference = (medians[1] / medians[0] - 1.0).abs();
        assert!(difference <= SPREAD, "{result}: {medians:?}");
    }
    let same = sandbox.plumb(&["check", &runs[1], "--against", &runs[0]]);
    assert_ne!(same.status, Some(1), "{same:?}");
    let page = sandbox.succeed(&["report", "latest", "--full"]).out;
    assert!(page.contains("Instructions per GB") && page.contains("veth_xmit"), "{page}");
}

fn kill_after_a_trial(sandbox: &Sandbox, arguments: &[&str]) {
    let mut run = sandbox.start(arguments);
    assert!(wait_until(COUNTED_TRIAL, || kept(sandbox) > 0), "no trial was stored");
    run.kill().expect("SIGKILL can be sent");
    run.wait().expect("it was started");
}

fn results(sandbox: &Sandbox) -> Vec<Value> {
    sandbox.findings("latest")["results"].as_array().expect("a list").clone()
}

fn adds_up(result: &Value) {
    let groups = result["instructions"].as_array().expect("a list");
    let share: f64 = groups.iter().filter_map(|group| group["share"].as_f64()).sum();
    assert!((share - 1.0).abs() < 1e-9, "{groups:#?}");
    let has = |name: &str| groups.iter().any(|group| group["name"] == name);
    assert!(["veth", "bridge", "plumb"].into_iter().all(has), "{groups:#?}");
}

pub(crate) fn refuses_what_it_cannot_count() {
    let sandbox = sandbox();
    let refused = sandbox.plumb(&["run", "vhost", "--count"]);
    assert_eq!(refused.status, Some(64), "{refused:?}");
    assert!(refused.err.contains("is a virtual machine"), "{}", refused.err);
    let probed = sandbox.plumb(&["run", "quick", "--count", "--probe", "cpu"]);
    assert_eq!(probed.status, Some(64), "{probed:?}");
}

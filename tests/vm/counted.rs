//! Counts instructions in an emulated machine.

use std::collections::BTreeMap;

use plumb_tests::{COUNTED_SCENARIO, Sandbox, trials};
use serde_json::Value;

use crate::{measured::number, sandbox};

/// The largest spread of counts relative to their median.
const SCATTER: f64 = 0.01;

pub(crate) fn counts_repeat() {
    let sandbox = sandbox();
    let file = sandbox.file("counted.toml", COUNTED_SCENARIO);
    let mut counts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let run = sandbox.succeed(&["run", &file, "--count", "--plain", "--quiet"]).out;
        runs.push(run.trim().to_owned());
        for result in results(&sandbox) {
            let values = result["values"].as_array().expect("a list").iter();
            let values = values.map(|value| value.as_f64().expect("a number"));
            counts.entry(result["id"].to_string()).or_default().extend(values);
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
    for (result, mut values) in counts {
        values.sort_by(f64::total_cmp);
        let scatter = (values[values.len() - 1] - values[0]) / values[values.len() / 2];
        assert!(scatter <= SCATTER, "{result}: {scatter:.5} in {values:?}");
    }
    let same = sandbox.plumb(&["check", &runs[1], "--against", &runs[0]]);
    assert_ne!(same.status, Some(1), "{same:?}");
    let page = sandbox.succeed(&["report", "latest", "--full"]).out;
    assert!(page.contains("Instructions per GB") && page.contains("veth_xmit"), "{page}");
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

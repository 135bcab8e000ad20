//! Instruction counts in several boots of the emulated machine, next to two busy loops.

use std::collections::BTreeMap;

use plumb_tests::{OtherWork, Sandbox};
use serde_json::Value;

use crate::sandbox;

/// Each path and the largest difference between two boots, relative to the median. The forwarding table of a bridge has
/// a random seed, and each collision in it costs about 115 instructions per message.
const PATHS: [(&str, f64); 3] = [("node-to-node", 0.002), ("pod-to-pod", 0.015), ("vxlan-to-vxlan", 0.002)];

/// Returns the median of each result.
fn medians(sandbox: &Sandbox, run: &str) -> BTreeMap<String, f64> {
    let findings = sandbox.findings(run);
    let results = findings["results"].as_array().expect("a list").iter();
    results
        .map(|result| (text(&result["id"]), result["value"]["estimate"].as_f64().expect("a count")))
        .collect()
}

/// Returns the verdict of each result.
fn verdicts(sandbox: &Sandbox, a: &str, b: &str) -> BTreeMap<String, String> {
    let printed = sandbox.succeed(&["compare", a, b, "--format", "json"]).out;
    let compared: Value = serde_json::from_str(&printed).expect("JSON");
    let results = compared["results"].as_array().expect("a list").iter();
    results.map(|result| (text(&result["result"]), text(&result["verdict"]))).collect()
}

fn is_change(verdict: &str) -> bool {
    ["better", "worse"].contains(&verdict)
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn count(sandbox: &Sandbox, scenario: &str, more: &[&str]) -> String {
    let mut arguments = vec!["run", scenario, "--count", "--quiet", "--plain"];
    arguments.extend(more);
    sandbox.succeed(&arguments).out.trim().to_owned()
}

pub(crate) fn agree_between_boots(boots: usize) {
    let sandbox = sandbox();
    let _work = OtherWork::on_cpus(2, sandbox.home());
    let paths: Vec<&str> = PATHS.iter().flat_map(|(path, _)| ["--path", path]).collect();
    let runs: Vec<String> = (0..boots).map(|_| count(&sandbox, "quick", &paths)).collect();
    let mut counts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in &runs {
        medians(&sandbox, run)
            .into_iter()
            .for_each(|(result, count)| counts.entry(result).or_default().push(count));
    }
    let mut wide = Vec::new();
    for (result, mut counts) in counts {
        counts.sort_by(f64::total_cmp);
        let spread = (counts[counts.len() - 1] - counts[0]) / counts[counts.len() / 2];
        println!(
            "  {result}: {:.0} to {:.0}, spread {:.3} %",
            counts[0],
            counts[counts.len() - 1],
            spread * 100.0
        );
        let (_, most) = PATHS.iter().find(|(path, _)| result.starts_with(path)).expect("it is selected");
        if spread > *most {
            wide.push(result);
        }
    }
    let mut different = Vec::new();
    let pairs = runs.iter().enumerate().flat_map(|(at, a)| runs[..at].iter().map(move |b| (b, a)));
    let pairs: Vec<_> = pairs.collect();
    for (a, b) in &pairs {
        let found = verdicts(&sandbox, a, b).into_iter();
        different.extend(found.filter(|(_, verdict)| is_change(verdict)));
    }
    println!("  {} pairs of runs, {} differences", pairs.len(), different.len());
    assert!(wide.is_empty() && different.is_empty(), "{wide:?} {different:?}");
}

/// Adds an nftables rule set to everything that leaves the node through the wire: about 9 million instructions per GB.
const RULES: &str = "[faults.planted]\nkind = \"icmp-hole\"\n[devices.\"node1:eth0\"]\nfault = \"planted\"\n";

/// On these paths, the change is 1.1 to 1.3 %.
const CHANGED: [&str; 2] = ["node-to-node", "pod-to-target"];
/// Does not cross the wire.
const CONTROL: &str = "pod-to-pod";

pub(crate) fn planted_changes_are_found(boots: usize) {
    let sandbox = sandbox();
    let _work = OtherWork::on_cpus(2, sandbox.home());
    let quick = sandbox.succeed(&["scenario", "show", "quick"]).out;
    let planted = sandbox.file("planted.toml", &format!("{quick}\n{RULES}"));
    let mut selected = vec!["--workload", "throughput", "--path", CONTROL];
    selected.extend(CHANGED.iter().flat_map(|path| ["--path", path]));
    let reference = count(&sandbox, "quick", &selected);
    let before = medians(&sandbox, &reference);
    let mut small = 0;
    for boot in 0..boots {
        let run = count(&sandbox, &planted, &selected);
        let (after, verdicts) = (medians(&sandbox, &run), verdicts(&sandbox, &reference, &run));
        for (result, verdict) in verdicts {
            let change = after[&result] / before[&result] - 1.0;
            println!("  boot {boot}, {result}: {:+.2} %, {verdict}", change * 100.0);
            let is_control = result.starts_with(CONTROL);
            let is_right = if is_control { !is_change(&verdict) } else { verdict == "worse" };
            assert!(is_right, "{result}: {change} is {verdict}");
            small += usize::from(!is_control && (0.008..=0.012).contains(&change));
        }
    }
    println!("  {small} changes of 0.8 to 1.2 % were found");
    assert!(small >= boots, "{small}");
}

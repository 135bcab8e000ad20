//! Tests that a run continues after losing a host and a path, and that a resumed run measures both.

use std::{collections::BTreeMap, process::Stdio};

use plumb_tests::{Network, Output, PATIENCE, ProcessGuard, by_ssh, pairs, signal, trials, wait_until};

const TRIALS: usize = 3;

fn kept(network: &Network) -> BTreeMap<String, usize> {
    let output = network.sandbox.plumb(&["report", "latest", "--format", "raw"]);
    let mut paths = BTreeMap::new();
    let Ok(record) = serde_json::from_str::<serde_json::Value>(&output.out) else { return paths };
    for trial in trials(&record).iter().filter(|trial| trial["arm"] == "measure") {
        let result = trial["result"].as_str().expect("a text");
        *paths.entry(result.split('/').next().expect("never empty").to_owned()).or_default() += 1;
    }
    paths
}

fn all_between(kept: &BTreeMap<String, usize>, hosts: &str, apart: &str) -> bool {
    let pairs = hosts.chars().flat_map(|from| hosts.chars().map(move |to| (from, to)));
    let measured = pairs.filter(|(from, to)| from != to && !(apart.contains(*from) && apart.contains(*to)));
    measured.map(|(from, to)| format!("{from}-to-{to}")).all(|path| kept.get(&path) == Some(&TRIALS))
}

fn says(output: &Output, words: &[&str]) {
    assert!(output.status == Some(1) && words.iter().all(|word| output.err.contains(word)), "{output:?}");
}

pub(crate) fn lost_host_and_dead_path() {
    let network = crate::network(4);
    network.part([&[0], &[1]]);
    let hosts = by_ssh(0..4).chain(["at = \"ssh:root@nowhere.invalid\"".to_owned()]);
    let file = network.sandbox.file("five.toml", &pairs("pairs = \"all\"", hosts, TRIALS as u32, "700ms"));
    let mut command = network.command(&["run", &file]);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    assert!(wait_until(PATIENCE, || kept(&network).values().sum::<usize>() >= 4), "no trial was stored");
    for agent in network.agents(3) {
        signal(agent, "KILL");
    }
    let output = Output::from(run.wait_with_output().expect("it was started"));
    says(
        &output,
        &["continuing without host e", "continuing without this path", "continuing without host d"],
    );
    says(&output, &["not measured: host d (", "host e (", "path a-to-b (", "path b-to-a (", "--resume"]);
    for text in ["From \\ to", "?: not measured."] {
        assert!(output.out.contains(text), "{}", output.out);
    }
    let first = kept(&network);
    assert!(all_between(&first, "abc", "ab") && !first.contains_key("a-to-b"), "{first:?}");
    assert!(first.get("d-to-a").is_none_or(|made| *made < TRIALS), "{first:?}");
    network.agents_are_gone();

    for host in [0, 1] {
        network.at(host, "nft delete table ip parted");
    }
    says(&network.plumb(&["run", "--resume"]), &["not measured: host e ("]);
    let second = kept(&network);
    assert!(all_between(&second, "abcd", ""), "{second:?}");
    assert!(!second.keys().any(|path| path.contains('e')), "{second:?}");
}

pub(crate) fn a_watch() {
    let network = crate::network(3);
    network.cable(2, "down");
    let _ = network.sandbox.file("three.toml", &pairs("pairs = \"all\"", by_ssh(0..3), 1, "300ms"));
    let plan =
        network.sandbox.file("plan.toml", "[[measure]]\nscenario = \"./three.toml\"\nevery = \"2min\"\n");
    let log = network.sandbox.home().join("watch.log");
    let mut command = network.command(&["watch", &plan]);
    let file = std::fs::File::create(&log).expect("own file");
    let watch = ProcessGuard(command.stdout(file).stderr(Stdio::null()).spawn().expect("plumb was built"));
    let printed = || std::fs::read_to_string(&log).unwrap_or_default();
    assert!(wait_until(PATIENCE, || printed().contains("failed: not measured: host c (")), "{}", printed());
    assert_eq!(kept(&network).len(), 2, "the remaining pair");
    network.cable(2, "up");
    assert!(wait_until(PATIENCE, || printed().lines().any(|line| line.contains("Gbit/s"))), "{}", printed());
    drop(watch);
    assert_eq!(kept(&network).len(), 6);
    let runs = network.sandbox.plumb(&["runs", "--json"]);
    let runs: serde_json::Value = serde_json::from_str(&runs.out).expect("JSON");
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
}
